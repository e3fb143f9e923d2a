#include "partwise/metrics/statistics.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
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
  for (const std::size_t count : {2U, 3U, 7U, 100U}) {
    std::vector<Columns> rows(count);
    std::array<std::vector<double>, kColumns> columns;
    for (auto& row : rows) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        row[c] = random.normal();
        columns[c].push_back(row[c]);
      }
    }
    const auto found = sample_deviations(rows);
    for (std::size_t c = 0; c < kColumns; ++c) EXPECT_EQ(found[c], sample_deviation(columns[c]));
  }
}

}  // namespace
}  // namespace partwise::metrics
