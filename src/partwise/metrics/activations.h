#pragma once

#include "partwise/base/geometry.h"

#include <cstdint>
#include <span>

namespace partwise::metrics {

// Feature maps of one layer over the evaluated rows; a row is one object crop. Values >= 0 (after
// ReLU).
struct Maps {
  std::span<const float> values;  // [rows, filters, side, side]
  int64_t rows = 0;
  int64_t filters = 0;
  int64_t side = 0;

  std::span<const float> map(int64_t row, int64_t filter) const {
    const auto cells = static_cast<std::size_t>(side * side);
    return values.subspan(static_cast<std::size_t>(row * filters + filter) * cells, cells);
  }
};

// Where the cells of a map lie in the network's square input: cell (i, j) at
// (offset + stride * j, offset + stride * i), pixels, 0-based.
struct UnitGrid {
  double offset = 0.0;
  double stride = 1.0;
  int64_t input_side = 0;

  Point centre(int64_t row, int64_t column) const {
    return {offset + stride * static_cast<double>(column),
            offset + stride * static_cast<double>(row)};
  }
};

// The strongest cell, the first one in row-major order on ties: index i * side + j.
int64_t peak_cell(std::span<const float> map);

}  // namespace partwise::metrics
