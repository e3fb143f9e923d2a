#include "partwise/metrics/maps.h"

#include "partwise/base/error.h"

#include <limits>

namespace partwise::metrics {

Peak peak(std::span<const float> map) {
  Peak best{.cell = 0, .value = -std::numeric_limits<float>::infinity()};
  for (std::size_t cell = 0; cell < map.size(); ++cell) {
    if (map[cell] > best.value) best = {static_cast<int64_t>(cell), map[cell]};
  }
  return best;
}

int64_t peak_cell(std::span<const float> map) {
  return peak(map).cell;
}

void expect_consistent(const Maps& maps) {
  expects(maps.rows >= 0 && maps.filters >= 0 && maps.side > 0,
          "maps of shape [{}, {}, {}, {}] cannot be", maps.rows, maps.filters, maps.side,
          maps.side);
  const auto wanted = static_cast<std::size_t>(maps.rows * maps.filters * maps.side * maps.side);
  expects(maps.values.size() == wanted, "{} values do not fill maps of shape [{}, {}, {}, {}]",
          maps.values.size(), maps.rows, maps.filters, maps.side, maps.side);
}

}  // namespace partwise::metrics
