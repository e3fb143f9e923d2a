#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace partwise::kernels {
namespace {
#include "partwise/kernels/exponential.inc"

// In units of the last place of a float with 24 digits.
double distance_from(double truth, float found) {
  const double unit = std::abs(truth) * std::numeric_limits<float>::epsilon();
  return std::abs(static_cast<double>(found) - truth) / unit;
}

// A map that is not finite is to be seen in what the layer says of it.
TEST(Exponential, OfNoNumberIsNone) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(exponential(none)));
  EXPECT_TRUE(std::isnan(power_of_two(none)));
  EXPECT_TRUE(std::isnan(logarithm(none)));
}

TEST(Exponential, IsWithinTwoUnitsInTheLastPlace) {
  double worst = 0.0;
  for (double x = -87.0; x < 88.0; x += 1.0 / 1024.0) {
    const auto of = static_cast<float>(x);
    worst = std::max(worst, distance_from(std::exp(static_cast<double>(of)), exponential(of)));
  }
  EXPECT_LT(worst, 2.0);
  EXPECT_EQ(exponential(0.0F), 1.0F);
  EXPECT_EQ(exponential(-1000.0F), 0.0F);
}

TEST(PowerOfTwo, IsWithinOneUnitInTheLastPlace) {
  double worst = 0.0;
  for (double x = -125.0; x < 127.0; x += 1.0 / 1024.0) {
    const auto of = static_cast<float>(x);
    worst = std::max(worst, distance_from(std::exp2(static_cast<double>(of)), power_of_two(of)));
  }
  EXPECT_LT(worst, 1.0);
  EXPECT_EQ(power_of_two(0.0F), 1.0F);
  EXPECT_LT(power_of_two(-1000.0F), 1e-37F);
  EXPECT_LT(power_of_two(-std::numeric_limits<float>::infinity()), 1e-37F);
}

TEST(Logarithm, IsWithinTwoUnitsInTheLastPlace) {
  double worst = 0.0;
  for (double x = 1e-30; x < 1e30; x *= 1.0003) {
    const auto of = static_cast<float>(x);
    worst = std::max(worst, distance_from(std::log(static_cast<double>(of)), logarithm(of)));
  }
  EXPECT_LT(worst, 2.0);
  EXPECT_EQ(logarithm(1.0F), 0.0F);
}

}  // namespace
}  // namespace partwise::kernels
