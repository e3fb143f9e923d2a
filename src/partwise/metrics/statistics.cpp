#include "partwise/metrics/statistics.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace partwise::metrics {
namespace {

// P(|T| <= t): a finite sum of powers of a cosine for whole degrees of freedom (Abramowitz & Stegun
// 26.7.3 and 26.7.4).
double within(double t, int64_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double square = std::cos(angle) * std::cos(angle);
  const bool odd = degrees % 2 != 0;
  double term = odd ? std::cos(angle) : 1.0;
  double sum = 0.0;
  for (int64_t k = odd ? 1 : 0; k <= degrees - 2; k += 2) {
    sum += term;
    term *= square * static_cast<double>(k + 1) / static_cast<double>(k + 2);
  }
  const double tail = std::sin(angle) * sum;
  return odd ? (angle + tail) * 2.0 / std::numbers::pi : tail;
}

}  // namespace

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

double student_t(int64_t degrees) {
  expects(degrees > 0, "{} degrees of freedom", degrees);
  double low = 0.0;
  double high = 16.0;  // t is 12.7 for one degree and falls
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2.0;
    (within(middle, degrees) < 0.95 ? low : high) = middle;
  }
  return (low + high) / 2.0;
}

SeedMean mean_over_seeds(std::span<const double> values) {
  std::vector<double> existing;
  ExistingMean mean;
  for (const double value : values) {
    mean.add(value);
    if (!std::isnan(value)) existing.push_back(value);
  }
  SeedMean result{std::ssize(existing), mean.value(), sample_deviation(existing), kNaN, kNaN};
  if (result.seeds < 2) return result;
  const double reach =
      student_t(result.seeds - 1) * result.deviation / std::sqrt(static_cast<double>(result.seeds));
  result.low = result.mean - reach;
  result.high = result.mean + reach;
  return result;
}

}  // namespace partwise::metrics
