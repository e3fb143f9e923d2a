#include "partwise/metrics/seeds.h"

#include "partwise/base/error.h"
#include "partwise/metrics/statistics.h"

#include <cmath>
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
