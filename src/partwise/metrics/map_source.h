#pragma once

#include "partwise/metrics/maps.h"

#include <cstdint>
#include <functional>

namespace partwise::metrics {

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
