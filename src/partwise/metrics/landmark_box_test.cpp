#include "partwise/metrics/landmark_box.h"

#include <gtest/gtest.h>

#include <vector>

namespace partwise::metrics {
namespace {

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
