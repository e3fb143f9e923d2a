#include "partwise/metrics/matching.h"

#include "partwise/base/error.h"

namespace partwise::metrics {
namespace {

void expect_same_picture(int64_t rows, const UnitGrid& grid, const Truth& truth) {
  expect_consistent(truth);
  expects(rows == std::ssize(truth.rows), "{} rows of maps, {} rows of truth", rows,
          truth.rows.size());
  expects(grid.input_side == truth.input_side, "maps of inputs of {} pixels, truth of {}",
          grid.input_side, truth.input_side);
}

}  // namespace

void expect_matching(const MapSource& maps, const UnitGrid& grid, const Truth& truth) {
  expect_same_picture(maps.rows, grid, truth);
}

void expect_matching(const MapSummaries& maps, const UnitGrid& grid, const Truth& truth) {
  expect_consistent(maps);
  expect_same_picture(maps.rows, grid, truth);
}

void expect_categories(std::span<const int64_t> filter_category,
                       int64_t filters,
                       const Truth& truth) {
  expects(filters == std::ssize(filter_category), "{} categories for {} filters",
          filter_category.size(), filters);
  for (const int64_t category : filter_category)
    expects(category < std::ssize(truth.categories), "no category {}", category);
}

}  // namespace partwise::metrics
