#include "partwise/metrics/activation_magnitude.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

// Three rows of categories 0, 0, 1; filter 0 of category 0 peaks at 4, 2, 1, filter 1 of category 1
// at 1, NaN (0), 5, filter 2 belongs to nothing. Target: (4 + 2 + 5) / 3, other: (1 + 1 + 0) / 3.
TEST(ActivationMagnitude, EqualsTheWorkedExample) {
  const std::vector<float> values{4, 1, 9, 2, NAN, 9, 1, 5, 9};
  const auto maps = summarise(Maps{values, 3, 3, 1}, 1);
  const auto result = activation_magnitude(maps, std::vector<int64_t>{0, 0, 1},
                                           std::vector<int64_t>{0, 1, -1}, {.resamples = 100});
  EXPECT_DOUBLE_EQ(result.on_target.value, 11.0 / 3.0);
  EXPECT_DOUBLE_EQ(result.on_other.value, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(result.ratio.value, 5.5);
  EXPECT_DOUBLE_EQ(result.on_target.controls.at("any_row"), 13.0 / 6.0);
}

MapSummaries random_maps(double boost, std::vector<int64_t>& rows, std::vector<int64_t>& filters) {
  Random random(1);
  std::vector<float> values;
  for (int64_t f = 0; f < 20; ++f) filters.push_back(f % 4);
  for (int64_t row = 0; row < 200; ++row) {
    rows.push_back(row % 4);
    for (int64_t f = 0; f < 20; ++f)
      values.push_back(static_cast<float>((f % 4 == row % 4 ? boost : 1.0) * random.uniform()));
  }
  return summarise(Maps{values, 200, 20, 1}, 1);
}

// Uniform activations, three times as high on the target: 1000 target pairs leave an error of 2 %.
TEST(ActivationMagnitudePlanted, ShowsTheRatioThatWasPlanted) {
  std::vector<int64_t> rows;
  std::vector<int64_t> filters;
  const auto maps = random_maps(3.0, rows, filters);
  const auto result = activation_magnitude(maps, rows, filters, {.resamples = 200});
  EXPECT_NEAR(result.ratio.value, 3.0, 0.2);
  EXPECT_GT(result.ratio.low, 2.0);
  EXPECT_NEAR(result.ratio.controls.at("shuffled_labels"), 1.0, 0.15);
}

TEST(ActivationMagnitudePlanted, FiltersWithoutPreferenceHaveRatioOne) {
  std::vector<int64_t> rows;
  std::vector<int64_t> filters;
  const auto maps = random_maps(1.0, rows, filters);
  const auto result = activation_magnitude(maps, rows, filters, {.resamples = 200});
  EXPECT_LT(result.ratio.low, 1.0);
  EXPECT_GT(result.ratio.high, 1.0);
  EXPECT_EQ(result.ratio.controls.at("no_preference"), 1.0);
}

TEST(ActivationMagnitude, WithoutOtherRowsHasNoRatio) {
  const std::vector<float> values{1, 2};
  const auto maps = summarise(Maps{values, 2, 1, 1}, 1);
  const auto result = activation_magnitude(maps, std::vector<int64_t>{0, 0},
                                           std::vector<int64_t>{0}, {.resamples = 10});
  EXPECT_EQ(result.on_target.value, 1.5);
  EXPECT_TRUE(std::isnan(result.on_other.value));
  EXPECT_TRUE(std::isnan(result.ratio.value));
}

}  // namespace
}  // namespace partwise::metrics
