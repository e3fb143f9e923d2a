#include "partwise/metrics/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace partwise::metrics {

double quotient(double part, double whole) {
  return whole > 0.0 ? part / whole : kNaN;
}

double largest_existing(std::span<const double> values) {
  double largest = kNaN;
  for (const double value : values) largest = std::fmax(largest, value);  // skips NaN
  return largest;
}

int64_t place_of_largest(std::span<const double> values) {
  const auto place = std::find(values.begin(), values.end(), largest_existing(values));
  return place == values.end() ? -1 : place - values.begin();
}

double sample_deviation(std::span<const double> values) {
  if (values.size() < 2) return kNaN;
  const auto count = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1.0));
}

double percentile(std::span<const double> ascending, double p) {
  if (ascending.empty()) return kNaN;
  const double position = p * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= ascending.size()) return ascending.back();
  const double share = position - static_cast<double>(below);
  return ascending[below] + share * (ascending[below + 1] - ascending[below]);
}

Columns sample_deviations(std::span<const Columns> rows) {
  const auto count = static_cast<double>(rows.size());
  Columns mean{};
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c) mean[c] += row[c];
  }
  for (auto& sum : mean) sum /= count;
  Columns squares{};
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c)
      squares[c] += (row[c] - mean[c]) * (row[c] - mean[c]);
  }
  for (auto& sum : squares) sum = std::sqrt(sum / (count - 1.0));
  return squares;
}

}  // namespace partwise::metrics
