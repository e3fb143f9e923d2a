#pragma once

#include <cstdint>
#include <span>

namespace partwise::metrics {

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
