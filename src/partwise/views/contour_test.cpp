#include "partwise/views/contour.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

using Triple = std::array<double, 3>;

Triple linear_light(Colour colour) {
  Triple light{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double value = colour[c] / 255.0;
    light[c] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return light;
}

Triple product(const std::array<Triple, 3>& matrix, const Triple& vector) {
  Triple result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i] += matrix[i][j] * vector[j];
    result[i] = std::clamp(result[i], 0.0, 1.0);
  }
  return result;
}

// CIE L*a*b* of linear sRGB.
Triple lab(const Triple& light) {
  const Triple xyz = product(
      {{{0.4339, 0.3762, 0.1899}, {0.2126, 0.7152, 0.0722}, {0.0177, 0.1095, 0.8728}}}, light);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116.0; };
  return {116.0 * f(xyz[1]) - 16.0, 500.0 * (f(xyz[0]) - f(xyz[1])),
          200.0 * (f(xyz[1]) - f(xyz[2]))};
}

TEST(PartColour, StaysApartWithColourBlindness) {
  // Machado, Oliveira and Fernandes 2009, severity 1: none, protan, deutan, tritan.
  const std::array<std::array<Triple, 3>, 4> eyes = {
      {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
       {{{0.1523, 1.0526, -0.2049}, {0.1145, 0.7863, 0.0992}, {-0.0039, -0.0481, 1.0520}}},
       {{{0.3673, 0.8606, -0.2280}, {0.2801, 0.6725, 0.0474}, {-0.0118, 0.0429, 0.9689}}},
       {{{1.2555, -0.0767, -0.1788}, {-0.0784, 0.9308, 0.1476}, {0.0047, 0.6914, 0.3039}}}}};
  for (const auto& eye : eyes) {
    for (int64_t i = 0; i < kPartColours; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        const Triple a = lab(product(eye, linear_light(part_colour(i))));
        const Triple b = lab(product(eye, linear_light(part_colour(j))));
        // 2.3 is just noticeable side by side; ten times that is told apart at a glance.
        EXPECT_GT(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), 23.0) << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace partwise::views
