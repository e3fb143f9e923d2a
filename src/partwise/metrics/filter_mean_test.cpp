#include "partwise/metrics/filter_mean.h"

#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::metrics {
namespace {

// Filter 0: share of rows above 1 among 4; filter 1 does not exist; filter 2: always 1.
double share_of_late_rows(int64_t filter, std::span<const int32_t> counts) {
  if (filter == 1) return kNaN;
  if (filter == 2) return 1.0;
  ExistingMean mean;
  for (std::size_t row = 0; row < counts.size(); ++row) mean.add(row > 1 ? 1.0 : 0.0, counts[row]);
  return mean.value();
}

TEST(MeanOverFilters, LeavesOutFiltersWithoutANumber) {
  const auto mean = mean_over_filters(4, 3, {.resamples = 200}, share_of_late_rows);
  EXPECT_EQ(mean.finding.value, 0.75);
  EXPECT_EQ(mean.by_filter[0], 0.5);
  EXPECT_TRUE(std::isnan(mean.by_filter[1]));
  EXPECT_LT(mean.finding.low, 0.75);
  EXPECT_LE(mean.finding.high, 1.0);
}

TEST(MeanOverFilters, DoesNotDependOnThreads) {
  const auto one = mean_over_filters(4, 3, {.resamples = 50, .threads = 1}, share_of_late_rows);
  const auto four = mean_over_filters(4, 3, {.resamples = 50, .threads = 4}, share_of_late_rows);
  EXPECT_EQ(one.finding.low, four.finding.low);
  EXPECT_EQ(one.finding.high, four.finding.high);
}

TEST(MeanOverFilters, OfNoRowsHasNoInterval) {
  const auto none = mean_over_filters(0, 1, {}, share_of_late_rows);
  EXPECT_TRUE(std::isnan(none.finding.value));
  EXPECT_TRUE(std::isnan(none.finding.low));
}

TEST(MeanControl, IsTheMeanOfWhatExists) {
  EXPECT_EQ(mean_control(4, {}, [](int64_t f) { return f == 0 ? kNaN : double(f); }), 2.0);
}

}  // namespace
}  // namespace partwise::metrics
