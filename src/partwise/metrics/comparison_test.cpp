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

}  // namespace
}  // namespace partwise::metrics
