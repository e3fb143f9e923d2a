#include "partwise/metrics/seeds.h"

#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

// Any table of Student's distribution, two-sided 5 %.
TEST(StudentT, EqualsTheTable) {
  EXPECT_NEAR(student_t(1), 12.7062, 5e-5);
  EXPECT_NEAR(student_t(2), 4.30265, 5e-6);
  EXPECT_NEAR(student_t(3), 3.18245, 5e-6);
  EXPECT_NEAR(student_t(4), 2.77645, 5e-6);
  EXPECT_NEAR(student_t(9), 2.26216, 5e-6);
  EXPECT_NEAR(student_t(30), 2.04227, 5e-6);
  EXPECT_NEAR(student_t(10'000), 1.96020, 5e-6);
  EXPECT_THROW(student_t(0), std::logic_error);
}

// {2, 4, 9}: mean 5, deviation sqrt 13, t(2) sqrt(13 / 3) = 8.9567.
TEST(MeanOverSeeds, EqualsTheWorkedExample) {
  const auto result = mean_over_seeds(std::vector<double>{2, kNaN, 4, 9});
  EXPECT_EQ(result.seeds, 3);
  EXPECT_DOUBLE_EQ(result.mean, 5.0);
  EXPECT_DOUBLE_EQ(result.deviation, std::sqrt(13.0));
  EXPECT_NEAR(result.low, 5.0 - 8.9567, 1e-4);
  EXPECT_NEAR(result.high, 5.0 + 8.9567, 1e-4);
}

TEST(MeanOverSeeds, OfOneSeedHasNoInterval) {
  const auto result = mean_over_seeds(std::vector<double>{0.5});
  EXPECT_EQ(result.mean, 0.5);
  EXPECT_TRUE(std::isnan(result.low));
  EXPECT_TRUE(std::isnan(mean_over_seeds({}).mean));
}

}  // namespace
}  // namespace partwise::metrics
