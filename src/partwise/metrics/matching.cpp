#include "partwise/metrics/matching.h"

#include "partwise/base/error.h"

namespace partwise::metrics {

void expect_matching(const Maps& maps,
                     const UnitGrid& grid,
                     const Truth& truth,
                     std::span<const int64_t> filter_category) {
  expect_consistent(maps);
  expect_consistent(truth);
  expects(maps.rows == std::ssize(truth.rows), "{} rows of maps, {} rows of truth", maps.rows,
          truth.rows.size());
  expects(grid.input_side == truth.input_side, "maps of inputs of {} pixels, truth of {}",
          grid.input_side, truth.input_side);
  expects(maps.filters == std::ssize(filter_category), "{} categories for {} filters",
          filter_category.size(), maps.filters);
  for (const int64_t category : filter_category)
    expects(category < std::ssize(truth.categories), "no category {}", category);
}

}  // namespace partwise::metrics
