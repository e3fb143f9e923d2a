#include "partwise/metrics/statistics.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

TEST(ExistingMeanValue, LeavesOutNaNAndWeighsTheRest) {
  ExistingMean mean;
  EXPECT_TRUE(std::isnan(mean.value()));
  mean.add(std::nan(""), 5.0);
  mean.add(1.0, 3.0);
  mean.add(5.0);
  mean.add(100.0, 0.0);
  EXPECT_EQ(mean.value(), 2.0);
}

TEST(Quotient, OfNothingDoesNotExist) {
  EXPECT_EQ(quotient(1.0, 4.0), 0.25);
  EXPECT_TRUE(std::isnan(quotient(0.0, 0.0)));
  EXPECT_TRUE(std::isnan(quotient(1.0, kNaN)));
}

TEST(LargestExisting, SkipsNaN) {
  EXPECT_EQ(largest_existing(std::vector<double>{kNaN, -2, kNaN, -3}), -2.0);
  EXPECT_TRUE(std::isnan(largest_existing(std::vector<double>{kNaN})));
  EXPECT_EQ(place_of_largest(std::vector<double>{kNaN, 1, 3, 3}), 2);
  EXPECT_EQ(place_of_largest(std::vector<double>{kNaN}), -1);
}

// {2, 4, 9}: mean 5, squares 9 + 1 + 16 = 26, divided by 2.
TEST(SampleDeviation, DividesByOneLessThanTheCount) {
  EXPECT_DOUBLE_EQ(sample_deviation(std::vector<double>{2, 4, 9}), std::sqrt(13.0));
  EXPECT_EQ(sample_deviation(std::vector<double>{3, 3}), 0.0);
  EXPECT_TRUE(std::isnan(sample_deviation(std::vector<double>{3})));
}

TEST(Percentile, InterpolatesBetweenOrderStatistics) {
  const std::vector<double> values{10, 20, 40};
  EXPECT_DOUBLE_EQ(percentile(values, 0.25), 15.0);
  EXPECT_DOUBLE_EQ(percentile(values, 0.975), 39.0);  // position 1.95
  EXPECT_EQ(percentile(values, 0.0), 10.0);
  EXPECT_EQ(percentile(values, 1.0), 40.0);
  EXPECT_EQ(percentile(std::vector<double>{7}, 0.025), 7.0);
  EXPECT_TRUE(std::isnan(percentile({}, 0.5)));
}

TEST(SampleDeviations, AreThoseOfEachColumnToTheLastBit) {
  Random random(1);
  for (const std::size_t count : {1U, 4U, 7U, 8U, 17U}) {
    std::vector<std::vector<double>> columns(count);
    for (auto& column : columns) {
      column.resize(static_cast<std::size_t>(random.below(100)));
      for (auto& value : column) value = random.normal();
    }
    const std::vector<std::span<const double>> spans(columns.begin(), columns.end());
    std::vector<double> found(count);
    sample_deviations(spans, found);
    for (std::size_t c = 0; c < count; ++c) {
      const double alone = sample_deviation(columns[c]);
      EXPECT_TRUE(found[c] == alone || (std::isnan(found[c]) && std::isnan(alone)));
    }
  }
}

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
