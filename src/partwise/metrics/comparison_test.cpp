#include "partwise/metrics/comparison.h"

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/bootstrap_fixture.h"
#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

// The nets differ by 0.1, the rows by much more; five filters of little effect.
class Paired : public testing::Test {
 protected:
  Paired() {
    Random random(4);
    for (auto& row : rows_) row = 10.0 * random.normal();
  }

  [[nodiscard]] Finding net(double shift) const {
    const auto mean = [&](const Resample& resample) {
      ExistingMean over_rows;
      for (std::size_t row = 0; row < rows_.size(); ++row)
        over_rows.add(rows_[row] + shift, resample.rows[row]);
      ExistingMean over_filters;
      for (std::size_t f = 0; f < resample.filters.size(); ++f)
        over_filters.add(0.01 * static_cast<double>(f), resample.filters[f]);
      return over_rows.value() + over_filters.value();
    };
    const std::vector<int32_t> rows_once(rows_.size(), 1);
    const std::vector<int32_t> filters_once(5, 1);
    const double value = mean({rows_once, filters_once, 0});
    return finding_within(value,
                          centred_bootstrap_interval(value, 200, 5, {.resamples = 400}, mean));
  }

  std::vector<double> rows_ = std::vector<double>(200);
};

TEST_F(Paired, SeesASmallDifferenceBehindLargeOnesBetweenRows) {
  const auto lower = compare(net(0.0), net(-0.1), true);
  EXPECT_TRUE(lower.paired);
  EXPECT_NEAR(lower.difference, -0.1, 1e-12);
  EXPECT_EQ(relation(lower), Relation::lower);
  EXPECT_EQ(relation(compare(net(0.0), net(-0.1), false)), Relation::indistinct);
}

TEST_F(Paired, DrawsTheFiltersOfTwoNetsApart) {
  const auto same = compare(net(0.0), net(0.0), true);
  EXPECT_EQ(relation(same), Relation::indistinct);
  EXPECT_LT(same.low, -0.001);
  EXPECT_GT(same.high, 0.001);
}

TEST(Comparison, LeavesOutDrawsThatDoNotExistInBoth) {
  const Finding first{.value = 1.0, .draws = {{1, 1, kNaN}}};
  const Finding second{.value = 3.0, .draws = {{3, kNaN, 9}}};
  const auto comparison = compare(first, second, true);
  EXPECT_EQ(comparison.low, 2.0);
  EXPECT_EQ(comparison.high, 2.0);
}

// 0.6 -+ hypot(0.3, 0.4) below; hypot(0.4, 0.3) above.
TEST(Comparison, WithoutPairsIsPutTogetherFromBothIntervals) {
  const Finding first{.value = 0.2, .low = -0.1, .high = 0.6, .draws = {{1, 2}}};
  const Finding second{.value = 0.8, .low = 0.5, .high = 1.2, .draws = {{1, 2, 3}}};
  for (const bool together : {true, false}) {  // two draws cannot be paired with three
    const auto comparison = compare(first, second, together);
    EXPECT_FALSE(comparison.paired);
    EXPECT_NEAR(comparison.difference, 0.6, 1e-12);
    EXPECT_NEAR(comparison.low, 0.1, 1e-12);
    EXPECT_NEAR(comparison.high, 1.1, 1e-12);
    EXPECT_EQ(relation(comparison), Relation::higher);
  }
  EXPECT_EQ(relation(compare(first, first, false)), Relation::indistinct);
}

TEST(Comparison, OfNothingIsNotDefined) {
  const Finding nothing{.value = kNaN, .low = kNaN, .high = kNaN};
  const Finding number{.value = 1.0, .low = 0.9, .high = 1.1};
  EXPECT_EQ(relation(compare(nothing, number, false)), Relation::undefined);
  const Finding bare{.value = 2.0, .low = kNaN, .high = kNaN};
  EXPECT_EQ(relation(compare(number, bare, false)), Relation::undefined);
}

TEST(Comparison, WithAControlAsksWhetherTheIntervalHoldsIt) {
  const Finding number{.value = 0.5, .low = 0.4, .high = 0.6};
  EXPECT_EQ(relation(compare_with_control(0.3, number)), Relation::higher);
  EXPECT_EQ(relation(compare_with_control(0.7, number)), Relation::lower);
  EXPECT_EQ(relation(compare_with_control(0.6, number)), Relation::indistinct);
  EXPECT_EQ(relation(compare_with_control(kNaN, number)), Relation::undefined);
}

}  // namespace
}  // namespace partwise::metrics
