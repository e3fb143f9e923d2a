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
  EXPECT_DOUBLE_EQ(result.value, 0.02);
  EXPECT_DOUBLE_EQ(result.facts.at("success_share").get<double>(), 0.75);
  EXPECT_DOUBLE_EQ(result.facts.at("random_flips").get<double>(), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(result.controls.at("random_direction"), 0.2);
  EXPECT_GE(result.low, 0.01);
  EXPECT_LE(result.high, 0.03);
  EXPECT_LT(result.low, result.high);
}

TEST(AdversarialDistortion, DoesNotExistWithoutASuccess) {
  const std::vector<AttackedRow> resisted(3, {kNaN, kNaN, false});
  const auto result = adversarial_distortion(resisted, {});
  EXPECT_TRUE(std::isnan(result.value));
  EXPECT_TRUE(std::isnan(result.low));
  EXPECT_TRUE(std::isnan(result.facts.at("random_flips").get<double>()));
  EXPECT_DOUBLE_EQ(result.facts.at("success_share").get<double>(), 0.0);
  EXPECT_TRUE(std::isnan(adversarial_distortion({}, {}).facts.at("success_share").get<double>()));
}

}  // namespace
}  // namespace partwise::metrics
