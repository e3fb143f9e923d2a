#pragma once

#include "partwise/base/geometry.h"

#include <cstdint>
#include <functional>
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

// What a value adds to a sum of activations: nothing unless it is positive.
inline double mass(float value) {
  return value > 0.0F ? static_cast<double>(value) : 0.0;
}

// Holds the caller to the shapes above.
void expect_consistent(const Maps& maps);

// Called once a batch: the maps of rows first_row, first_row + 1, ...
using VisitBatch = std::function<void(const Maps& batch, int64_t first_row)>;

// Maps too many to be held at once. `each_batch` passes over all of them, every row once, in
// batches of any size and any order; a metric may ask for several passes. No number depends on how
// the rows were cut into batches or ordered.
struct MapSource {
  int64_t rows = 0;
  int64_t filters = 0;
  int64_t side = 0;
  std::function<void(const VisitBatch&)> each_batch;
};

// Maps that are in memory, `batch_rows` at a time; they must outlive the source.
MapSource source_of(const Maps& maps, int64_t batch_rows = 64);

// One pass; holds the source to its word: shapes agree, every row comes once.
void for_each_batch(const MapSource& source, const VisitBatch& visit);

}  // namespace partwise::metrics
