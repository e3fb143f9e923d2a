#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace partwise::metrics {

// A number that does not exist.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Mean of the values that exist (are not NaN), each with a weight; NaN if there are none.
class ExistingMean {
 public:
  void add(double value, double weight = 1.0) {
    if (std::isnan(value) || weight == 0.0) return;
    weight_ += weight;
    sum_ += value * weight;
  }
  [[nodiscard]] double value() const { return weight_ > 0.0 ? sum_ / weight_ : kNaN; }

 private:
  double weight_ = 0.0;
  double sum_ = 0.0;
};

// part / whole; NaN unless whole is positive.
double quotient(double part, double whole);

// The largest of the values that are not NaN; NaN if there are none.
double largest_existing(std::span<const double> values);

// Where the first of the largest stands; -1 if there is none.
int64_t place_of_largest(std::span<const double> values);

// Sample standard deviation (N - 1); NaN for fewer than two values.
double sample_deviation(std::span<const double> values);

// The p-quantile of ascending values, interpolating linearly between order statistics: the position
// is p * (N - 1). NaN without values.
double percentile(std::span<const double> ascending, double p);

// sample_deviation of each column, to the last bit: sums run down a column in the same order there,
// but several columns side by side, so that no addition waits for the one before.
void sample_deviations(std::span<const std::span<const double>> columns,
                       std::span<double> deviations);

// A number of several trainings that differ in nothing but their seed.
struct SeedMean {
  int64_t seeds = 0;
  double mean = 0.0;
  double deviation = 0.0;  // between seeds (N - 1); NaN for a single one
  double low = 0.0;        // mean -+ t deviation / sqrt(N)
  double high = 0.0;
};

// Student's 95 % interval for the mean over all seeds one might have trained with, on these data
// and measured on these images: it knows nothing of other images (a run's own interval does). It
// takes the numbers of the seeds for normal; with two seeds t = 12.7, so three are the least worth
// printing. Seeds whose number does not exist (NaN) are left out; without two, low and high are
// NaN.
SeedMean mean_over_seeds(std::span<const double> values);

// t with P(|T| <= t) = 0.95 for `degrees` > 0 degrees of freedom.
double student_t(int64_t degrees);

}  // namespace partwise::metrics
