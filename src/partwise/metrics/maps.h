#pragma once

#include "partwise/base/geometry.h"

#include <cstdint>
#include <span>

namespace partwise::metrics {

// Feature maps of one layer over the evaluated rows; a row is one object crop. Values >= 0 (after
// ReLU). A NaN never wins: peaks and thresholds take it for -inf, sums for 0.
struct Maps {
  std::span<const float> values;  // [rows, filters, side, side]
  int64_t rows = 0;
  int64_t filters = 0;
  int64_t side = 0;

  [[nodiscard]] std::span<const float> map(int64_t row, int64_t filter) const {
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

  [[nodiscard]] Point centre(int64_t row, int64_t column) const {
    return {offset + stride * static_cast<double>(column),
            offset + stride * static_cast<double>(row)};
  }
};

struct Peak {
  int64_t cell = 0;  // i * side + j
  float value = 0.0F;
};

// The strongest cell, the first one in row-major order on ties; a map of nothing but NaN peaks at
// cell 0 with -inf.
Peak peak(std::span<const float> map);
int64_t peak_cell(std::span<const float> map);

// What a value adds to a sum of activations: nothing unless it is positive.
inline double mass(float value) {
  return value > 0.0F ? static_cast<double>(value) : 0.0;
}

// Holds the caller to the shapes above.
void expect_consistent(const Maps& maps);

}  // namespace partwise::metrics
