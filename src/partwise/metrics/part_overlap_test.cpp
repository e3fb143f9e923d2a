#include "partwise/metrics/part_overlap.h"

#include "partwise/metrics/exhibit_fixture.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::metrics {
namespace {

// Units at (1, 1), (5, 1), (1, 5), (5, 5) of an 8 x 8 input, discs of radius 1 with 5 pixels. One
// of 8 positions lies above T: row 0 fires at (1, 1), row 1 is silent and T is its 2.
Exhibit worked_example() {
  Exhibit exhibit(3, 1, 2, {.offset = 1.0, .stride = 4.0, .input_side = 8});
  exhibit.truth.categories = {{"cat", {}, {"A", "B"}}};
  exhibit.at(0, 0, 0) = 3.0F;
  exhibit.at(1, 0, 3) = 2.0F;
  exhibit.at(2, 0, 0) = 9.0F;  // no object
  exhibit.truth.rows[0] = {0, {}, {pixels(8, {{1, 1}, {0, 0}}), PixelSet()}};
  exhibit.truth.rows[1] = {0, {}, {pixels(8, {{1, 1}, {1, 2}, {1, 0}}), pixels(8, {{5, 5}})}};
  return exhibit;
}

PartOverlaps overlaps_of(const Exhibit& exhibit, int64_t batch_rows) {
  return part_overlaps(source_of(exhibit.maps(), batch_rows), exhibit.grid, exhibit.truth,
                       std::vector<OverlapQuestion>{{0, 0}},
                       {.quantile = 0.125, .iou = 0.2, .radius = 0.125}, {}, 1);
}

// Row 0: one pixel in common, 5 + 2 - 1 in all. Row 1 shows A and B, but nothing fires. Shuffled,
// row 0's region meets row 1's A in all its 3 pixels, and B in none.
TEST(PartOverlaps, EqualsTheWorkedExample) {
  const auto exhibit = worked_example();
  const auto found = overlaps_of(exhibit, 64).filters.front();
  EXPECT_EQ(found.threshold, 2.0F);
  EXPECT_EQ(found.silent_rows, 1);
  EXPECT_DOUBLE_EQ(found.own[0][0], 1.0 / 6.0);
  EXPECT_EQ(found.own[0][1], 0.0);
  EXPECT_TRUE(std::isnan(found.own[1][0]));
  EXPECT_EQ(found.own[1][1], 0.0);
  EXPECT_DOUBLE_EQ(found.shuffled[0][0], 3.0 / 5.0);
  EXPECT_EQ(found.shuffled[1][0], 0.0);
  EXPECT_EQ(found.shuffled[0][1], 0.0);
  EXPECT_TRUE(std::isnan(found.shuffled[1][1]));
}

// The disc of radius 1 about (3.5, 3.5) holds the four pixels around it.
TEST(PartOverlaps, OfTheCentreIsThatOfOneDisc) {
  auto exhibit = worked_example();
  exhibit.truth.rows[1].parts[1] = pixels(8, {{3, 3}, {4, 4}, {7, 7}});
  const auto centre = overlaps_of(exhibit, 64).centre.front();
  EXPECT_DOUBLE_EQ(centre[1][1], 2.0 / 5.0);
  EXPECT_EQ(centre[0][0], 0.0);
}

}  // namespace
}  // namespace partwise::metrics
