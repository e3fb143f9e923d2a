#include "partwise/metrics/class_selectivity.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

// Classes 0 0 1 2 and one row left out; maps of two by two cells. Filter 0 has the sums 8, 4, 2, 4:
// means per cell 1.5, 0.5, 1, so mu_rest = 0.75 and the index is 0.75 / 2.25. Filter 1 is dead.
TEST(ClassSelectivity, EqualsTheWorkedExample) {
  std::vector<float> values(std::size_t{5} * 2 * 4);
  const std::vector<float> sums{8, 4, 2, 4, 99};
  for (std::size_t row = 0; row < 5; ++row) values[row * 8 + row % 4] = sums[row];
  const auto maps = summarise(Maps{values, 5, 2, 2}, 1);
  const auto result =
      class_selectivity(maps, std::vector<int64_t>{0, 0, 1, 2, -1}, 4, {.resamples = 50});
  EXPECT_DOUBLE_EQ(result.finding.value, 1.0 / 3.0);
  EXPECT_TRUE(std::isnan(result.by_filter[1]));
}

TEST(ClassSelectivity, OfAFilterForOneClassIsOne) {
  const std::vector<float> values{0, 3, 0, 1, 0, 0};
  const auto maps = summarise(Maps{values, 6, 1, 1}, 1);
  const auto result =
      class_selectivity(maps, std::vector<int64_t>{0, 1, 2, 1, 0, 2}, 3, {.resamples = 50});
  EXPECT_EQ(result.finding.value, 1.0);
}

// The largest of ten class means of noise always exceeds the rest: only the control says so.
TEST(ClassSelectivityPlanted, NoiseSitsAtItsControl) {
  Random random(3);
  std::vector<float> values(std::size_t{100} * 60);
  for (auto& value : values) value = static_cast<float>(random.uniform());
  std::vector<int64_t> classes;
  for (int64_t row = 0; row < 100; ++row) classes.push_back(row % 10);
  const auto result =
      class_selectivity(summarise(Maps{values, 100, 60, 1}, 1), classes, 10, {.resamples = 100});
  EXPECT_GT(result.finding.value, 0.1);
  EXPECT_NEAR(result.finding.value, result.finding.controls.at("shuffled_labels"), 0.015);
  EXPECT_LT(result.finding.low, result.finding.value);
  EXPECT_GT(result.finding.high, result.finding.value);
}

TEST(ClassSelectivity, NeedsTwoClasses) {
  const std::vector<float> values{1, 2};
  const auto maps = summarise(Maps{values, 2, 1, 1}, 1);
  const auto result = class_selectivity(maps, std::vector<int64_t>{0, 0}, 2, {.resamples = 10});
  EXPECT_TRUE(std::isnan(result.finding.value));
}

}  // namespace
}  // namespace partwise::metrics
