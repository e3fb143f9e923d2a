#include "partwise/metrics/filter_category.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

// Four rows of categories 0, 1, 1, none; three filters on one cell.
// Filter 0: category 0 has mean 3, category 1 mean (5 + 0) / 2 = 2.5; the largest sum would be 1.
// Filter 1: category 1 with mean 2 over 1; the row without category does not count.
// Filter 2: never fires.
TEST(StrongestCategory, GoesByTheMeanOfTheCategorysRows) {
  const std::vector<float> values{3, 1, 0, 5, 2, 0, 0, 2, 0, 9, 9, 9};
  const Maps maps{.values = values, .rows = 4, .filters = 3, .side = 1};
  const std::vector<int64_t> categories{0, 1, 1, -1};
  EXPECT_EQ(strongest_category(maps, categories, 2), (std::vector<int64_t>{0, 1, 0}));
}

TEST(StrongestCategory, IsTheSameOfSummaries) {
  const std::vector<float> values{3, 1, 0, 5, 2, 0, 0, 2, 0, 9, 9, 9};
  const Maps maps{.values = values, .rows = 4, .filters = 3, .side = 1};
  const std::vector<int64_t> categories{0, 1, 1, -1};
  EXPECT_EQ(strongest_category(summarise(maps, 1), categories, 2),
            strongest_category(maps, categories, 2));
}

TEST(StrongestCategory, SumsOverTheMapRatherThanTakingItsPeak) {
  const std::vector<float> values{5, 0, 0, 0, 2, 2, 2, 2};
  const Maps maps{.values = values, .rows = 2, .filters = 1, .side = 2};
  const std::vector<int64_t> categories{0, 1};
  EXPECT_EQ(strongest_category(maps, categories, 2).front(), 1);
}

TEST(StrongestCategory, IsTheFirstOnTiesAndIgnoresNaN) {
  const std::vector<float> values{2, NAN, 2, NAN, 2, 7};
  const Maps maps{.values = values, .rows = 3, .filters = 2, .side = 1};
  const std::vector<int64_t> categories{3, 1, 2};
  EXPECT_EQ(strongest_category(maps, categories, 4), (std::vector<int64_t>{1, 2}));
}

TEST(StrongestCategory, RejectsAnUnknownCategory) {
  const std::vector<float> values{1};
  const Maps maps{.values = values, .rows = 1, .filters = 1, .side = 1};
  const std::vector<int64_t> categories{2};
  EXPECT_THROW(strongest_category(maps, categories, 2), std::logic_error);
}

}  // namespace
}  // namespace partwise::metrics
