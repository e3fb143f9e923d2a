#include "partwise/metrics/adversarial_distortion.h"

#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

// Four images: two attacked at 0.01 and 0.03, one at 0.02 whose random step flips it too, one that
// resisted. Mean 0.02, three of four, one of three; at random (0.1 + 0.3) / 2.
TEST(AdversarialDistortion, IsTheMeanOverTheAttacksThatSucceeded) {
  const std::vector<AttackedRow> rows{
      {0.01, 0.1, false}, {0.03, kNaN, false}, {0.02, 0.3, true}, {kNaN, kNaN, true}};
  const auto result = adversarial_distortion(rows, {});
  EXPECT_DOUBLE_EQ(result.finding.value, 0.02);
  EXPECT_DOUBLE_EQ(result.success_share, 0.75);
  EXPECT_DOUBLE_EQ(result.random_flips, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(result.finding.controls.at("random_direction"), 0.2);
  EXPECT_GE(result.finding.low, 0.01);
  EXPECT_LE(result.finding.high, 0.03);
  EXPECT_LT(result.finding.low, result.finding.high);
}

TEST(AdversarialDistortion, DoesNotExistWithoutASuccess) {
  const std::vector<AttackedRow> resisted(3, {kNaN, kNaN, false});
  const auto result = adversarial_distortion(resisted, {});
  EXPECT_TRUE(std::isnan(result.finding.value));
  EXPECT_TRUE(std::isnan(result.finding.low));
  EXPECT_TRUE(std::isnan(result.random_flips));
  EXPECT_DOUBLE_EQ(result.success_share, 0.0);
  EXPECT_TRUE(std::isnan(adversarial_distortion({}, {}).success_share));
}

}  // namespace
}  // namespace partwise::metrics
