#include "partwise/metrics/comparison.h"

#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

// Differences 1, 1, 2; the last row does not exist on one side.
TEST(Comparison, OfRowsIsTheMeanDifferenceOfThoseInBoth) {
  const auto comparison = compare_rows(std::vector<double>{1, 5, 9, kNaN},
                                       std::vector<double>{2, 6, 11, 3}, {.resamples = 2000});
  EXPECT_DOUBLE_EQ(comparison.difference, 4.0 / 3.0);
  EXPECT_GE(comparison.low, 1.0 - 0.02);  // 1 to 2, moved by the resamples' own error
  EXPECT_LE(comparison.high, 2.0 + 0.02);
  EXPECT_TRUE(comparison.distinguishable());
  EXPECT_EQ(verdict(comparison), "higher");
}

// Filters of one net: means 2 and 4; of the other: 3 alone, one row missing.
TEST(Comparison, OfFiltersIsTheDifferenceOfTheirMeans) {
  const std::vector<double> first{1, 4, 3, 4};
  const std::vector<double> second{kNaN, 3};
  const auto comparison =
      compare_filters({first, 2, 2}, {second, 2, 1}, Filters::separate, {.resamples = 50});
  EXPECT_DOUBLE_EQ(comparison.difference, 0.0);
  EXPECT_EQ(verdict(comparison), "not distinguishable");
}

TEST(Comparison, OfANetWithItselfIsNothingWhenFiltersArePaired) {
  Random random(1);
  std::vector<double> values(std::size_t{30} * 7);
  for (auto& value : values) value = random.uniform();
  const RowFilterValues numbers{values, 30, 7};
  const auto paired = compare_filters(numbers, numbers, Filters::paired, {.resamples = 100});
  EXPECT_EQ(paired.low, 0.0);
  EXPECT_EQ(paired.high, 0.0);
  EXPECT_EQ(verdict(paired), "not distinguishable");
  const auto separate = compare_filters(numbers, numbers, Filters::separate, {.resamples = 100});
  EXPECT_LT(separate.low, 0.0);
  EXPECT_GT(separate.high, 0.0);
}

// Rows differ by 10, nets by 0.1: only drawing the same rows for both can show it.
TEST(Comparison, SeesASmallDifferenceBehindLargeOnesBetweenRows) {
  Random random(2);
  std::vector<double> first;
  std::vector<double> second;
  for (int row = 0; row < 200; ++row) {
    const double row_effect = 10.0 * random.normal();
    first.push_back(row_effect + 0.2 * random.normal());
    second.push_back(row_effect + 0.2 * random.normal() - 0.1);
  }
  EXPECT_EQ(verdict(compare_rows(first, second, {.resamples = 400})), "lower");
}

TEST(Comparison, DoesNotDependOnThreads) {
  Random random(3);
  std::vector<double> first(std::size_t{20} * 5);
  std::vector<double> second(std::size_t{20} * 3);
  for (auto& value : first) value = random.uniform();
  for (auto& value : second) value = random.uniform();
  const auto with = [&](int64_t threads) {
    return compare_filters({first, 20, 5}, {second, 20, 3}, Filters::separate,
                           {.resamples = 60, .threads = threads});
  };
  EXPECT_EQ(with(1).low, with(3).low);
  EXPECT_EQ(with(1).high, with(3).high);
}

TEST(Comparison, OfNothingIsNotDistinguishable) {
  const std::vector<double> none(3, kNaN);
  const auto comparison = compare_rows(none, none, {});
  EXPECT_TRUE(std::isnan(comparison.difference));
  EXPECT_FALSE(comparison.distinguishable());
}

TEST(Comparison, RejectsOtherRows) {
  const std::vector<double> two(2);
  const std::vector<double> three(3);
  EXPECT_THROW(compare_rows(two, three, {}), std::logic_error);
  EXPECT_THROW(compare_filters({two, 1, 2}, {three, 1, 3}, Filters::paired, {}), std::logic_error);
}

// The nets differ by 0.1, the rows by much more; filters of two nets are drawn apart.
TEST(Comparison, OfFindingsPairsTheirDraws) {
  Random random(4);
  std::vector<double> rows(200);
  for (auto& row : rows) row = 10.0 * random.normal();
  const auto finding = [&](double shift, const BootstrapOptions& options) {
    const auto mean = [&](const Resample& resample) {
      ExistingMean over_rows;
      for (std::size_t row = 0; row < rows.size(); ++row)
        over_rows.add(rows[row] + shift, resample.rows[row]);
      ExistingMean over_filters;
      for (std::size_t f = 0; f < resample.filters.size(); ++f)
        over_filters.add(0.01 * static_cast<double>(f), resample.filters[f]);
      return over_rows.value() + over_filters.value();
    };
    const std::vector<int32_t> rows_once(rows.size(), 1);
    const std::vector<int32_t> filters_once(5, 1);
    const double value = mean({rows_once, filters_once, 0});
    const auto interval = centred_bootstrap_interval(value, 200, 5, options, mean);
    return Finding{.value = value,
                   .low = interval.low,
                   .high = interval.high,
                   .controls = {},
                   .resamples = interval.resamples};
  };
  const BootstrapOptions first{.resamples = 400};
  const BootstrapOptions second{.resamples = 400, .filter_stream = 1};
  const auto lower = compare(finding(0.0, first), finding(-0.1, second));
  EXPECT_NEAR(lower.difference, -0.1, 1e-12);
  EXPECT_EQ(verdict(lower), "lower");
  const auto same = compare(finding(0.0, first), finding(0.0, second));
  EXPECT_EQ(verdict(same), "not distinguishable");
  EXPECT_LT(same.low, -0.001);  // other filters were drawn
  const auto paired = compare(finding(0.0, first), finding(0.0, first));
  EXPECT_EQ(paired.low, 0.0);
  EXPECT_EQ(paired.high, 0.0);
}

TEST(Comparison, OfFindingsLeavesOutDrawsThatDoNotExistInBoth) {
  const Finding first{.value = 1.0, .low = 0, .high = 0, .controls = {}, .resamples = {1, 1, kNaN}};
  const Finding second{
      .value = 3.0, .low = 0, .high = 0, .controls = {}, .resamples = {3, kNaN, 9}};
  const auto comparison = compare(first, second);
  EXPECT_EQ(comparison.low, 2.0);
  EXPECT_EQ(comparison.high, 2.0);
  const Finding other{.value = 3.0, .low = 0, .high = 0, .controls = {}, .resamples = {3}};
  EXPECT_THROW(compare(first, other), std::logic_error);
}

}  // namespace
}  // namespace partwise::metrics
