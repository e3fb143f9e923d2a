#include "partwise/views/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace partwise::views {

namespace {

double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power * 1.0001) return factor * power;
  }
  return 10.0 * power;
}

}  // namespace

std::string Axis::label(double tick) const {
  return fmt::format("{:.{}f}", std::abs(tick) < 1e-12 ? 0.0 : tick, decimals);
}

Axis axis_over(std::span<const double> values, int wanted) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value) && std::abs(value) < 1e12; });
  double low = finite.empty() ? 0.0 : *std::min_element(finite.begin(), finite.end());
  double high = finite.empty() ? 1.0 : *std::max_element(finite.begin(), finite.end());
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low <= 1e-9 * size || high == low) {
    const double room = size > 0.0 ? 0.1 * size : 0.5;
    low -= room;
    high += room;
  }
  const double step = round_step((high - low) / wanted);
  Axis axis;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  axis.low = first * step;
  axis.high = last * step;
  const auto steps = static_cast<int>(last - first);
  for (int k = 0; k <= steps; ++k) axis.ticks.push_back((first + k) * step);
  axis.decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
  return axis;
}

}  // namespace partwise::views
