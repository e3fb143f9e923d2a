#pragma once

#include "partwise/metrics/maps.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace partwise::metrics {

// Maps to be filled cell by cell, and the truth beside them.
struct Exhibit {
  int64_t rows;
  int64_t filters;
  int64_t side;
  UnitGrid grid;
  std::vector<float> values;
  Truth truth;

  Exhibit(int64_t row_count, int64_t filter_count, int64_t map_side, UnitGrid unit_grid)
      : rows(row_count),
        filters(filter_count),
        side(map_side),
        grid(unit_grid),
        values(static_cast<std::size_t>(row_count * filter_count * map_side * map_side)) {
    truth.input_side = unit_grid.input_side;
    truth.rows.resize(static_cast<std::size_t>(row_count));
  }

  float& at(int64_t row, int64_t filter, int64_t cell) {
    return values[static_cast<std::size_t>((row * filters + filter) * side * side + cell)];
  }
  [[nodiscard]] Maps maps() const { return {values, rows, filters, side}; }
};

inline constexpr UnitGrid kVggGrid{.offset = 7.5, .stride = 16.0, .input_side = 224};  // side 14

inline PixelSet pixels(int64_t side, const std::vector<std::pair<int64_t, int64_t>>& list) {
  PixelSet set(side);
  for (const auto& [x, y] : list) set.insert(x, y);
  return set;
}

// 0 when both are empty.
inline double intersection_over_union(const PixelSet& a, const PixelSet& b) {
  const int64_t both = intersection_area(a, b);
  const int64_t either = a.area() + b.area() - both;
  return either == 0 ? 0.0 : static_cast<double>(both) / static_cast<double>(either);
}

inline PixelSet disc(int64_t side, Point centre, double radius) {
  PixelSet set(side);
  set.insert_disc(centre, radius);
  return set;
}

}  // namespace partwise::metrics
