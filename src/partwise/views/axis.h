#pragma once

#include <span>
#include <string>
#include <vector>

namespace partwise::views {

// A stretch of numbers that starts and ends on a tick; ticks are 1, 2 or 5 times a power of ten
// apart.
struct Axis {
  double low = 0.0;
  double high = 1.0;
  std::vector<double> ticks;
  int decimals = 0;  // that tell all ticks apart

  // 0 at `low`, 1 at `high`.
  double share(double value) const { return (value - low) / (high - low); }
  std::string label(double tick) const;
};

// Covers all finite values with about `wanted` ticks; a single value gets room on both sides, and
// no value at all gives [0, 1].
Axis axis_over(std::span<const double> values, int wanted = 5);

}  // namespace partwise::views
