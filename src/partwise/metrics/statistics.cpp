#include "partwise/metrics/statistics.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <array>
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

// `count` columns, as far as the shortest goes side by side.
template <std::size_t count>
void deviate(const std::span<const double>* columns, double* deviations) {
  std::array<const double*, count> values;
  std::size_t common = columns[0].size();
  for (std::size_t c = 0; c < count; ++c) {
    values[c] = columns[c].data();
    common = std::min(common, columns[c].size());
  }
  std::array<double, count> mean{};
  for (std::size_t i = 0; i < common; ++i) {
    for (std::size_t c = 0; c < count; ++c) mean[c] += values[c][i];
  }
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t i = common; i < columns[c].size(); ++i) mean[c] += values[c][i];
    mean[c] /= static_cast<double>(columns[c].size());
  }
  const auto squared = [](double difference) { return difference * difference; };
  std::array<double, count> squares{};
  for (std::size_t i = 0; i < common; ++i) {
    for (std::size_t c = 0; c < count; ++c) squares[c] += squared(values[c][i] - mean[c]);
  }
  for (std::size_t c = 0; c < count; ++c) {
    const auto size = columns[c].size();
    for (std::size_t i = common; i < size; ++i) squares[c] += squared(values[c][i] - mean[c]);
    deviations[c] = size < 2 ? kNaN : std::sqrt(squares[c] / (static_cast<double>(size) - 1.0));
  }
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

void sample_deviations(std::span<const std::span<const double>> columns,
                       std::span<double> deviations) {
  std::size_t done = 0;
  for (; done + 8 <= columns.size(); done += 8)
    deviate<8>(columns.data() + done, &deviations[done]);
  for (; done + 4 <= columns.size(); done += 4)
    deviate<4>(columns.data() + done, &deviations[done]);
  for (; done < columns.size(); ++done) deviations[done] = sample_deviation(columns[done]);
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
