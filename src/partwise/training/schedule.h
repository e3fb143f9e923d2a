#pragma once

#include "partwise/parts/part_option_fields.h"
#include "partwise/training/train_options.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace partwise::training {

// Linear rise over the first `warmup` share of the steps, then a cosine down to zero; a factor of
// the peak.
inline double warmup_cosine(int64_t step, int64_t steps, double warmup) {
  const auto rise = std::max(1.0, warmup * static_cast<double>(steps));
  const auto at = static_cast<double>(step);
  if (at < rise) return (at + 1.0) / (rise + 1.0);
  const double share = (at - rise) / std::max(1.0, static_cast<double>(steps) - rise);
  return 0.5 * (1.0 + std::cos(std::numbers::pi * std::min(1.0, share)));
}

// The learning rate in an epoch (counted from 0) as a factor of the highest, without warm-up:
//   constant  1
//   log       evenly on a logarithmic scale from 1 to rate_end in rate_epochs epochs, rate_end from
//             there on (the authors' release)
//   steps     times rate_end every rate_epochs epochs
inline double epoch_rate(const TrainOptions& options, int64_t epoch) {
  const auto span = options.rate_epochs > 0 ? options.rate_epochs : options.epochs;
  switch (options.rate_schedule) {
    case RateSchedule::cosine:  // step by step: rate_factor
    case RateSchedule::constant:
      break;
    case RateSchedule::log: {
      const auto last = static_cast<double>(std::max<int64_t>(1, span - 1));
      return std::pow(options.rate_end, std::min(1.0, static_cast<double>(epoch) / last));
    }
    case RateSchedule::steps:
      return std::pow(options.rate_end, static_cast<double>(epoch / span));
  }
  return 1.0;
}

// The learning rate of one of an epoch's steps, as a factor of the highest.
inline double rate_factor(const TrainOptions& options, int64_t epoch, int64_t step, int64_t steps) {
  const auto at = epoch * steps + step;
  const auto all = options.epochs * steps;
  if (options.rate_schedule == RateSchedule::cosine) return warmup_cosine(at, all, options.warmup);
  const double rise = options.warmup * static_cast<double>(all);
  return epoch_rate(options, epoch) * std::min(1.0, (static_cast<double>(at) + 1.0) / (rise + 1.0));
}

// How much of the masks is in force at one of all steps: rising evenly over the first mask_warmup
// of them, then all.
inline double mask_share(const parts::PartOptions& options, int64_t step, int64_t steps) {
  const double rise = options.mask_warmup * static_cast<double>(steps);
  return rise > 0.0 ? std::min(1.0, static_cast<double>(step) / rise) : 1.0;
}

// The filter loss's strength in an epoch (counted from 0), as a factor of its option: "constant",
// "inverse" (the paper's 1/t) or "linear" (falling to 0 at the share `until` of the epochs, and 0
// from there on).
inline double strength_factor(const parts::PartOptions& options, int64_t epoch, int64_t epochs) {
  const auto t = static_cast<double>(epoch);
  switch (options.schedule) {
    case parts::StrengthSchedule::constant:
      break;
    case parts::StrengthSchedule::inverse:
      return 1.0 / (t + 1.0);
    case parts::StrengthSchedule::linear:
      return 1.0 - t / static_cast<double>(epochs);
  }
  return 1.0;
}

}  // namespace partwise::training
