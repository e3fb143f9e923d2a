#include "partwise/views/contour.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace partwise::views {
namespace {

double area(const std::vector<Point>& outline) {
  double sum = 0.0;
  for (std::size_t k = 0; k < outline.size(); ++k) {
    const Point a = outline[k];
    const Point b = outline[(k + 1) % outline.size()];
    sum += a.x * b.y - b.x * a.y;
  }
  return sum / 2.0;
}

std::vector<float> disc(int64_t side, double radius) {
  std::vector<float> field;
  for (int64_t p = 0; p < side * side; ++p) {
    const double x = static_cast<double>(p % side) + 0.5 - static_cast<double>(side) / 2.0;
    const double y = static_cast<double>(p / side) + 0.5 - static_cast<double>(side) / 2.0;
    field.push_back(static_cast<float>(radius - std::hypot(x, y)));
  }
  return field;
}

TEST(Contours, FollowADisc) {
  const auto outlines = contours(disc(40, 12.3), 40, 40, 0.0);
  ASSERT_EQ(outlines.size(), 1U);
  for (const Point& point : outlines[0]) {
    EXPECT_NEAR(std::hypot(point.x - 20.0, point.y - 20.0), 12.3, 0.1);  // chords of a pixel
  }
  EXPECT_NEAR(std::abs(area(outlines[0])), std::acos(-1.0) * 12.3 * 12.3, 1.0);
}

TEST(Contours, GiveAHoleAnOutlineThatTurnsTheOtherWay) {
  std::vector<float> ring = disc(40, 14.0);
  for (float& value : ring) value = std::min(value, 8.0F - value);  // inner radius 6
  const auto outlines = contours(ring, 40, 40, 0.0);
  ASSERT_EQ(outlines.size(), 2U);
  EXPECT_LT(area(outlines[0]) * area(outlines[1]), 0.0);
  EXPECT_NEAR(std::abs(area(outlines[0]) + area(outlines[1])),
              std::acos(-1.0) * (14.0 * 14.0 - 6.0 * 6.0), 2.0);
}

TEST(Contours, CloseOnTheBorderOfTheField) {
  const std::vector<float> full(12, 1.0F);
  const auto outlines = contours(full, 4, 3, 0.5);
  ASSERT_EQ(outlines.size(), 1U);
  EXPECT_DOUBLE_EQ(std::abs(area(outlines[0])), 12.0);
  std::vector<float> left(12, 0.0F);
  for (const std::size_t p : {0, 4, 8}) left[p] = 1.0F;
  const auto strip = contours(left, 4, 3, 0.5);
  ASSERT_EQ(strip.size(), 1U);
  EXPECT_DOUBLE_EQ(std::abs(area(strip[0])), 3.0);  // to half-way between the first two columns
}

TEST(Contours, DecideASaddleByTheMean) {
  std::vector<float> field = {0, 0, 0, 0,  //
                              0, 1, 0, 0,  //
                              0, 0, 1, 0,  //
                              0, 0, 0, 0};
  EXPECT_EQ(contours(field, 4, 4, 0.4).size(), 1U);  // mean 0.5: joined
  EXPECT_EQ(contours(field, 4, 4, 0.6).size(), 2U);  // parted
}

TEST(Contours, OfNothingAreNone) {
  EXPECT_TRUE(contours({}, 0, 0, 0.5).empty());
  EXPECT_TRUE(contours(std::vector<float>(9, 0.0F), 3, 3, 0.5).empty());
  EXPECT_TRUE(
      contours(std::vector<float>(9, std::numeric_limits<float>::quiet_NaN()), 3, 3, 0.5).empty());
}

TEST(Contours, SurviveInfinities) {
  std::vector<float> field(25, -std::numeric_limits<float>::infinity());
  field[12] = std::numeric_limits<float>::infinity();
  field[13] = std::numeric_limits<float>::quiet_NaN();
  const auto outlines = contours(field, 5, 5, 0.0);
  ASSERT_EQ(outlines.size(), 1U);
  EXPECT_DOUBLE_EQ(std::abs(area(outlines[0])), 0.5);
}

TEST(PartColour, HasTwelveAndBeginsAgain) {
  std::set<Colour> seen;
  for (int64_t k = 0; k < kPartColours; ++k) seen.insert(part_colour(k));
  EXPECT_EQ(static_cast<int64_t>(seen.size()), kPartColours);
  EXPECT_EQ(part_colour(kPartColours), part_colour(0));
  EXPECT_EQ(part_colour(-1), part_colour(kPartColours - 1));
}

}  // namespace
}  // namespace partwise::views
