#include "partwise/metrics/maps.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace partwise::metrics {

Peak peak(std::span<const float> map) {
  Peak best{.cell = 0, .value = -std::numeric_limits<float>::infinity()};
  for (std::size_t cell = 0; cell < map.size(); ++cell) {
    if (map[cell] > best.value) best = {static_cast<int64_t>(cell), map[cell]};
  }
  return best;
}

void expect_consistent(const Maps& maps) {
  expects(maps.rows >= 0 && maps.filters >= 0 && maps.side > 0,
          "maps of shape [{}, {}, {}, {}] cannot be", maps.rows, maps.filters, maps.side,
          maps.side);
  const auto wanted = static_cast<std::size_t>(maps.rows * maps.filters * maps.side * maps.side);
  expects(maps.values.size() == wanted, "{} values do not fill maps of shape [{}, {}, {}, {}]",
          maps.values.size(), maps.rows, maps.filters, maps.side, maps.side);
}

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
