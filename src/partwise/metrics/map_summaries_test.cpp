#include "partwise/metrics/map_summaries.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

// Two rows, two filters, side 2: {0 2 / 2 1}, {-1 NaN / 0.5 0.25} and a silent and a NaN map.
TEST(MapSummaries, EqualTheWorkedExample) {
  const std::vector<float> values{0, 2, 2, 1, -1, NAN, 0.5, 0.25, 0, 0, 0, 0, NAN, NAN, NAN, NAN};
  const auto summaries = summarise(Maps{values, 2, 2, 2}, 1);
  EXPECT_EQ(summaries.cells, (std::vector<int32_t>{1, 0, 2, 0}));
  EXPECT_EQ(summaries.peaks,
            (std::vector<float>{2, 0, 0.5, -std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(summaries.masses, (std::vector<double>{5, 0, 0.75, 0}));
  EXPECT_EQ(summaries.peaks_of(1)[0], 0.5F);
}

// Single rows, last row first.
MapSource backwards(const Maps& maps) {
  return {maps.rows, maps.filters, maps.side, [maps](const VisitBatch& visit) {
            const auto size = static_cast<std::size_t>(maps.filters * maps.side * maps.side);
            for (int64_t row = maps.rows - 1; row >= 0; --row)
              visit({maps.values.subspan(row * size, size), 1, maps.filters, maps.side}, row);
          }};
}

TEST(MapSummaries, DoNotDependOnBatchesOrThreads) {
  Random random(2);
  std::vector<float> values(std::size_t{37} * 5 * 9);
  for (auto& value : values) value = static_cast<float>(random.normal());
  const Maps maps{values, 37, 5, 3};
  const auto whole = summarise(maps, 1);
  for (const auto& other : {summarise(source_of(maps, 1), 3), summarise(source_of(maps, 8), 2),
                            summarise(backwards(maps), 1)}) {
    EXPECT_EQ(other.cells, whole.cells);
    EXPECT_EQ(other.peaks, whole.peaks);
    EXPECT_EQ(other.masses, whole.masses);
  }
}

TEST(MapSource, ThatRepeatsOrLosesARowIsOurBug) {
  const std::vector<float> values(8);
  const Maps row{values, 1, 2, 2};
  const auto visit = [](const Maps&, int64_t) {};
  const auto source = [&](std::vector<int64_t> rows) {
    return MapSource{2, 2, 2, [rows, row](const VisitBatch& see) {
                       for (const int64_t first : rows) see(row, first);
                     }};
  };
  EXPECT_NO_THROW(for_each_batch(source({1, 0}), visit));
  EXPECT_THROW(for_each_batch(source({0, 0}), visit), std::logic_error);
  EXPECT_THROW(for_each_batch(source({0}), visit), std::logic_error);
  EXPECT_THROW(for_each_batch(source({0, 1, 2}), visit), std::logic_error);
}

TEST(MapSummaries, AFilterThatFiresOnNoRowIsDead) {
  const std::vector<float> values{0, 1, 0, 0, 0, -1, 0, 0};  // [2 rows, 4 filters, 1, 1]
  EXPECT_EQ(dead_share(summarise(Maps{values, 2, 4, 1}, 1)), 0.75);
}

TEST(ByStrength, KeepsTheOrderOfEquals) {
  const std::vector<float> peaks{1, 3, -std::numeric_limits<float>::infinity(), 3, 2};
  const std::vector<int64_t> rows{0, 1, 2, 3};
  EXPECT_EQ(by_strength(peaks, rows), (std::vector<int32_t>{1, 3, 0, 2}));
}

// Four rows of categories 0, 1, 1, none; three filters on one cell.
// Filter 0: category 0 has mean 3, category 1 mean (5 + 0) / 2 = 2.5; the largest sum would be 1.
// Filter 1: category 1 with mean 2 over 1; the row without category does not count.
// Filter 2: never fires.
TEST(StrongestCategory, GoesByTheMeanOfTheCategorysRows) {
  const std::vector<float> values{3, 1, 0, 5, 2, 0, 0, 2, 0, 9, 9, 9};
  const Maps maps{.values = values, .rows = 4, .filters = 3, .side = 1};
  const std::vector<int64_t> categories{0, 1, 1, -1};
  EXPECT_EQ(strongest_category(summarise(maps, 1), categories, 2), (std::vector<int64_t>{0, 1, 0}));
}

TEST(StrongestCategory, SumsOverTheMapRatherThanTakingItsPeak) {
  const std::vector<float> values{5, 0, 0, 0, 2, 2, 2, 2};
  const Maps maps{.values = values, .rows = 2, .filters = 1, .side = 2};
  const std::vector<int64_t> categories{0, 1};
  EXPECT_EQ(strongest_category(summarise(maps, 1), categories, 2).front(), 1);
}

TEST(StrongestCategory, IsTheFirstOnTiesAndIgnoresNaN) {
  const std::vector<float> values{2, NAN, 2, NAN, 2, 7};
  const Maps maps{.values = values, .rows = 3, .filters = 2, .side = 1};
  const std::vector<int64_t> categories{3, 1, 2};
  EXPECT_EQ(strongest_category(summarise(maps, 1), categories, 4), (std::vector<int64_t>{1, 2}));
}

TEST(StrongestCategory, RejectsAnUnknownCategory) {
  const std::vector<float> values{1};
  const Maps maps{.values = values, .rows = 1, .filters = 1, .side = 1};
  const std::vector<int64_t> categories{2};
  EXPECT_THROW(strongest_category(summarise(maps, 1), categories, 2), std::logic_error);
}

TEST(BoxHolds, AnyPointUpToItsRim) {
  EXPECT_TRUE(box_holds({10, 10}, 2.0, std::vector<Point>{{0, 0}, {12, 8}}));
  EXPECT_FALSE(box_holds({10, 10}, 2.0, std::vector<Point>{{12.5, 10}}));
  EXPECT_FALSE(box_holds({10, 10}, 2.0, {}));
}

// A box of 4 pixels in a picture of 10 covers pixels 0 to 3 about 1.5, 6 to 9 about 7.5.
TEST(PushedInside, MovesABoxNoFartherThanItMust) {
  const auto moved = pushed_inside({0, 5}, 2.0, 10);
  EXPECT_EQ(moved.x, 1.5);
  EXPECT_EQ(moved.y, 5.0);
  EXPECT_EQ(pushed_inside({9, 9}, 2.0, 10).y, 7.5);
  EXPECT_EQ(pushed_inside({9, 9}, 8.0, 10).x, 4.5);
}

TEST(PeakCentre, IsTheUnitOfTheStrongestCell) {
  const std::vector<float> values{0, 1, 0, 0};
  const auto maps = summarise(Maps{values, 1, 1, 2}, 1);
  const auto centre = peak_centre(maps, {.offset = 1.0, .stride = 4.0, .input_side = 8}, 0, 0);
  EXPECT_EQ(centre.x, 5.0);
  EXPECT_EQ(centre.y, 1.0);
}

}  // namespace
}  // namespace partwise::metrics
