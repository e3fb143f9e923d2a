#include "partwise/metrics/map_source.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace partwise::metrics {

MapSource source_of(const Maps& maps, int64_t batch_rows) {
  expect_consistent(maps);
  expects(batch_rows > 0, "batches of {} rows cannot be", batch_rows);
  return {maps.rows, maps.filters, maps.side, [maps, batch_rows](const VisitBatch& visit) {
            const int64_t row_size = maps.filters * maps.side * maps.side;
            for (int64_t first = 0; first < maps.rows; first += batch_rows) {
              const int64_t rows = std::min(batch_rows, maps.rows - first);
              const auto values = maps.values.subspan(static_cast<std::size_t>(first * row_size),
                                                      static_cast<std::size_t>(rows * row_size));
              visit({values, rows, maps.filters, maps.side}, first);
            }
          }};
}

void for_each_batch(const MapSource& source, const VisitBatch& visit) {
  std::vector<uint8_t> seen(static_cast<std::size_t>(source.rows));
  source.each_batch([&](const Maps& batch, int64_t first_row) {
    expect_consistent(batch);
    expects(batch.filters == source.filters && batch.side == source.side,
            "a batch of {} filters and side {} from a source of {} and {}", batch.filters,
            batch.side, source.filters, source.side);
    expects(first_row >= 0 && first_row + batch.rows <= source.rows,
            "rows [{}, {}) from a source of {}", first_row, first_row + batch.rows, source.rows);
    for (int64_t row = first_row; row < first_row + batch.rows; ++row) {
      expects(seen[row] == 0, "row {} came twice", row);
      seen[row] = 1;
    }
    visit(batch, first_row);
  });
  const auto missing = std::find(seen.begin(), seen.end(), 0);
  expects(missing == seen.end(), "row {} did not come", missing - seen.begin());
}

}  // namespace partwise::metrics
