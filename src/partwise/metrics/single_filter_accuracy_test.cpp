#include "partwise/metrics/single_filter_accuracy.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

// Maps of one cell, given filter by filter.
MapSummaries peaks_of(int64_t filters, const std::vector<float>& by_filter) {
  const auto rows = std::ssize(by_filter) / filters;
  std::vector<float> values(by_filter.size());
  for (int64_t f = 0; f < filters; ++f) {
    for (int64_t row = 0; row < rows; ++row) values[row * filters + f] = by_filter[f * rows + row];
  }
  return summarise(Maps{values, rows, filters, 1}, 1);
}

// Four training rows: positives 4 and 6, negatives 1 and 5. T = 1 has recalls 1 and 1/2, T = 5 has
// 1/2 and 1: equal, so the higher, 5, is taken. Five evaluated rows: positives 6, 4; negatives 5,
// 0, 0: T = 5 calls 6 alone: 4 of 5 right, recalls 1/2 and 1. Fitted: T = 0 has 4 of 5 as well.
// AUC: 6 beats all three, 4 beats two: 5/6.
TEST(SingleFilterAccuracy, EqualsTheWorkedExample) {
  const auto train = peaks_of(1, {4, 6, 1, 5});
  const auto test = peaks_of(1, {6, 4, 5, 0, 0});
  const std::vector<int64_t> train_category{0, 0, -1, 1};
  const std::vector<int64_t> test_category{0, 0, -1, 1, -1};
  const auto result = single_filter_accuracy({test, test_category}, {train, train_category},
                                             std::vector<int64_t>{0}, {.resamples = 50});
  EXPECT_EQ(result.thresholds[0], 5.0);
  EXPECT_DOUBLE_EQ(result.fitted.finding.value, 0.8);
  EXPECT_DOUBLE_EQ(result.accuracy.finding.value, 0.8);
  EXPECT_DOUBLE_EQ(result.balanced.finding.value, 0.75);
  EXPECT_DOUBLE_EQ(result.auc.finding.value, 5.0 / 6.0);
  EXPECT_DOUBLE_EQ(result.fitted.finding.controls.at("majority_class"), 0.6);
  EXPECT_EQ(result.balanced.finding.facts.at("best_filter"), 0);
}

struct Birds {
  MapSummaries maps;
  std::vector<int64_t> category;
};

// Half the rows show a bird. Filter 0 fires at the height `gap` above its noise when they do, the
// others know nothing.
Birds birds(int64_t rows, int64_t filters, double gap, uint64_t seed) {
  Random random(seed);
  Birds scene;
  for (int64_t row = 0; row < rows; ++row) scene.category.push_back(row % 2 == 0 ? 0 : -1);
  std::vector<float> scores;
  for (int64_t f = 0; f < filters; ++f) {
    for (int64_t row = 0; row < rows; ++row) {
      const double signal = f == 0 && row % 2 == 0 ? gap : 0.0;
      scores.push_back(static_cast<float>(signal + random.normal()));
    }
  }
  scene.maps = peaks_of(filters, scores);
  return scene;
}

// Two normals 2 apart: the best threshold is right with probability Phi(1) = 0.8413, AUC is
// Phi(sqrt 2) = 0.9214. 4000 rows leave an error of 0.006 and 0.004.
TEST(SingleFilterAccuracyPlanted, FindsTheFilterThatKnows) {
  const auto train = birds(4000, 3, 2.0, 1);
  const auto test = birds(4000, 3, 2.0, 2);
  const auto result =
      single_filter_accuracy({test.maps, test.category}, {train.maps, train.category},
                             std::vector<int64_t>(3, 0), {.resamples = 20});
  EXPECT_EQ(result.balanced.finding.facts.at("best_filter"), 0);
  EXPECT_EQ(result.fitted.finding.facts.at("best_filter"), 0);
  EXPECT_NEAR(result.balanced.by_filter[0], 0.8413, 0.02);
  EXPECT_NEAR(result.auc.by_filter[0], 0.9214, 0.013);
  EXPECT_NEAR(result.balanced.by_filter[1], 0.5, 0.03);
  EXPECT_NEAR(result.auc.by_filter[1], 0.5, 0.03);
}

// With 40 rows the fitted threshold of filters that know nothing is right far more often than half
// the time; the control tells, the honest numbers do not need it.
TEST(SingleFilterAccuracyPlanted, FittedThresholdsFlatterRandomFilters) {
  const auto train = birds(40, 200, 0.0, 3);
  const auto test = birds(40, 200, 0.0, 4);
  const auto result =
      single_filter_accuracy({test.maps, test.category}, {train.maps, train.category},
                             std::vector<int64_t>(200, 0), {.resamples = 100});
  EXPECT_GT(result.fitted.finding.value, 0.58);
  EXPECT_NEAR(result.fitted.finding.value, result.fitted.finding.controls.at("shuffled_labels"),
              0.015);
  EXPECT_LT(result.balanced.finding.low, 0.5);
  EXPECT_GT(result.balanced.finding.high, 0.5);
  EXPECT_LT(result.auc.finding.low, 0.5);
  EXPECT_GT(result.auc.finding.high, 0.5);
}

TEST(SingleFilterAccuracy, LeavesOutFiltersWithoutACategory) {
  const auto maps = peaks_of(2, {1, 0, 0, 1});
  const std::vector<int64_t> category{0, -1};
  const auto result = single_filter_accuracy({maps, category}, {maps, category},
                                             std::vector<int64_t>{0, -1}, {.resamples = 10});
  EXPECT_EQ(result.fitted.finding.value, 1.0);
  EXPECT_TRUE(std::isnan(result.fitted.by_filter[1]));
  EXPECT_EQ(result.fitted.finding.facts.at("best_filter"), 0);
  EXPECT_EQ(result.balanced.finding.facts.at("best_filter"), 0);
  EXPECT_TRUE(std::isnan(result.thresholds[1]));
}

TEST(SingleFilterAccuracy, DoesNotDependOnThreads) {
  const auto scene = birds(50, 6, 1.0, 5);
  const auto with = [&](int64_t threads) {
    return single_filter_accuracy({scene.maps, scene.category}, {scene.maps, scene.category},
                                  std::vector<int64_t>(6, 0),
                                  {.resamples = 40, .threads = threads});
  };
  EXPECT_EQ(with(1).fitted.finding.low, with(3).fitted.finding.low);
  EXPECT_EQ(with(1).auc.finding.high, with(3).auc.finding.high);
  EXPECT_EQ(with(1).fitted.finding.controls, with(3).fitted.finding.controls);
}

TEST(SingleFilterAccuracy, RejectsLabelsOfOtherRows) {
  const auto maps = peaks_of(1, {1, 0});
  const std::vector<int64_t> category{0};
  EXPECT_THROW(single_filter_accuracy({maps, category}, {maps, category}, category, {}),
               std::logic_error);
}

}  // namespace
}  // namespace partwise::metrics
