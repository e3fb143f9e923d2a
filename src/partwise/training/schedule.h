#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

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
// "inverse" (the paper's 1/t) or "linear" (falling to 0 behind the last epoch).
inline double strength_factor(const std::string& schedule, int64_t epoch, int64_t epochs) {
  if (schedule == "inverse") return 1.0 / static_cast<double>(epoch + 1);
  if (schedule == "linear") return 1.0 - static_cast<double>(epoch) / static_cast<double>(epochs);
  return 1.0;
}

}  // namespace partwise::training
