#include "partwise/views/axis.h"

#include <gtest/gtest.h>

#include <limits>

namespace partwise::views {
namespace {

TEST(Axis, CoversTheValuesWithRoundTicks) {
  const std::vector<double> values = {0.13, 0.78};
  const Axis axis = axis_over(values);
  EXPECT_LE(axis.low, 0.13);
  EXPECT_GE(axis.high, 0.78);
  EXPECT_EQ(axis.label(axis.ticks.at(1)), "0.2");
  EXPECT_NEAR(axis.share(axis.high), 1.0, 1e-12);
}

TEST(Axis, ShowsAsManyDecimalsAsTellTicksApart) {
  const std::vector<double> values = {0.061, 0.079};
  const Axis axis = axis_over(values);
  EXPECT_EQ(axis.decimals, 3);
  EXPECT_EQ(axis.label(axis.ticks.front()), "0.060");
}

TEST(Axis, GivesRoomToASingleValueAndToNone) {
  const std::vector<double> one = {1.0};
  EXPECT_LT(axis_over(one).low, 1.0);
  EXPECT_GT(axis_over(one).high, 1.0);
  const std::vector<double> zero = {0.0};
  EXPECT_LT(axis_over(zero).low, axis_over(zero).high);
  EXPECT_EQ(axis_over({}).high, 1.0);
}

TEST(Axis, IgnoresWhatIsNoNumber) {
  const std::vector<double> values = {0.0, 10.0, std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::infinity()};
  EXPECT_EQ(axis_over(values).high, 10.0);
}

}  // namespace
}  // namespace partwise::views
