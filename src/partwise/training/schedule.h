#pragma once

#include "partwise/parts/options.h"

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

// The filter loss's strength in an epoch (counted from 0), as a factor of its option: "constant",
// "inverse" (the paper's 1/t) or "linear" (falling to 0 at the share `until` of the epochs, and 0
// from there on).
inline double strength_factor(const parts::PartOptions& options, int64_t epoch, int64_t epochs) {
  const auto t = static_cast<double>(epoch);
  if (options.schedule == "inverse") return 1.0 / (t + 1.0);
  if (options.schedule == "constant") return 1.0;
  return 1.0 - t / static_cast<double>(epochs);
}

}  // namespace partwise::training
