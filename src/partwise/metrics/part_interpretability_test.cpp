#include "partwise/metrics/part_interpretability.h"

#include "partwise/base/random.h"
#include "partwise/metrics/bootstrap_fixture.h"
#include "partwise/metrics/exhibit_fixture.h"
#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace partwise::metrics {
namespace {

PartInterpretability measure(const Exhibit& exhibit,
                             const std::vector<int64_t>& categories,
                             InterpretabilityOptions options,
                             BootstrapOptions bootstrap = {.resamples = 100}) {
  return part_interpretability(source_of(exhibit.maps()), exhibit.grid, exhibit.truth, categories,
                               options, bootstrap);
}

// Units at (1, 1), (5, 1), (1, 5), (5, 5) of an 8 x 8 input; a disc of radius 1 is a plus of 5
// pixels. 16 positions, a quarter above T: 9, 8, 7, 6, so T is the fifth value, 1.
// Row 0 fires at (1, 1): part A is 1 of its pixels, IoU 1/5, not above 0.2; part B lies elsewhere.
// Row 1 fires at (5, 5): A is 2 of its pixels, IoU 2/5.
// Row 2 is silent; it shows A.
// Row 3 fires at (5, 1) and (1, 5): B is the plus at (5, 1), IoU 5/10; no A.
// P_A = 1/3, P_B = 1/2.
Exhibit worked_example() {
  Exhibit exhibit(4, 1, 2, {.offset = 1.0, .stride = 4.0, .input_side = 8});
  exhibit.truth.categories = {{"cat", {}, {"A", "B"}}};
  std::fill(exhibit.values.begin(), exhibit.values.end(), 1.0F);
  exhibit.at(0, 0, 0) = 9.0F;
  exhibit.at(1, 0, 3) = 8.0F;
  exhibit.at(3, 0, 1) = 7.0F;
  exhibit.at(3, 0, 2) = 6.0F;
  exhibit.truth.rows[0] = {0, {}, {pixels(8, {{1, 1}}), disc(8, {5, 5}, 1.0)}};
  exhibit.truth.rows[1] = {0, {}, {pixels(8, {{5, 5}, {5, 4}}), PixelSet()}};
  exhibit.truth.rows[2] = {0, {}, {pixels(8, {{1, 1}}), PixelSet(8)}};
  exhibit.truth.rows[3] = {0, {}, {PixelSet(8), disc(8, {5, 1}, 1.0)}};
  return exhibit;
}

constexpr InterpretabilityOptions kQuarter{.quantile = 0.25, .iou = 0.2, .radius = 0.125};

// The disc of the worked example, radius 1, as a shape.
TEST(PartInterpretabilityValue, WithADiscForAShapeIsTheSame) {
  const auto exhibit = worked_example();
  const std::vector<RegionShape> plus{{{{-1, 0, 0}, {0, -1, 1}, {1, 0, 0}}}};
  const auto maps = exhibit.maps();
  const auto by_disc = part_interpretability(source_of(maps, 2), exhibit.grid, exhibit.truth,
                                             std::vector<int64_t>{0}, kQuarter, {.resamples = 10});
  const auto by_shape =
      part_interpretability(source_of(maps, 2), exhibit.grid, exhibit.truth,
                            std::vector<int64_t>{0}, kQuarter, {.resamples = 10}, {.shapes = plus});
  EXPECT_EQ(by_shape.filters.at(0).by_part, by_disc.filters.at(0).by_part);
  EXPECT_EQ(by_shape.finding.controls.at("shuffled_images"),
            by_disc.finding.controls.at("shuffled_images"));
  EXPECT_EQ(by_shape.empty_share, by_disc.empty_share);
  const std::vector<RegionShape> nothing(1);
  const auto blind = part_interpretability(source_of(maps, 2), exhibit.grid, exhibit.truth,
                                           std::vector<int64_t>{0}, kQuarter, {.resamples = 10},
                                           {.shapes = nothing});
  EXPECT_EQ(blind.finding.value, 0.0);
  EXPECT_EQ(blind.finding.controls.at("constant_centre"), 0.0);
}

TEST(PartInterpretabilityValue, EqualsTheWorkedExample) {
  const auto result = measure(worked_example(), {0}, kQuarter);
  const auto& filter = result.filters.at(0);
  EXPECT_EQ(filter.threshold, 1.0);
  EXPECT_DOUBLE_EQ(filter.by_part.at(0), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(filter.by_part.at(1), 1.0 / 2.0);
  EXPECT_EQ(filter.best_part, 1);
  EXPECT_EQ(filter.empty_share, 0.25);
  EXPECT_EQ(result.empty_share, 0.25);
  EXPECT_EQ(result.finding.value, 0.5);
  EXPECT_EQ(result.finding.controls.size(), 2U);
}

// The disc of radius 1 about (3.5, 3.5) holds 4 pixels; B of row 0 made of 3 of them has IoU 3/4.
TEST(PartInterpretabilityControl, ConstantCentreIsOneDisc) {
  auto exhibit = worked_example();
  EXPECT_EQ(measure(exhibit, {0}, kQuarter).finding.controls.at("constant_centre"), 0.0);
  exhibit.truth.rows[0].parts[1] = pixels(8, {{3, 3}, {3, 4}, {4, 4}});
  EXPECT_EQ(measure(exhibit, {0}, kQuarter).finding.controls.at("constant_centre"), 0.5);
}

// Two rows trade places: each fires on the other's part, so the control is 1 and the value 0.
TEST(PartInterpretabilityControl, ShuffledImagesNeverKeepTheirParts) {
  Exhibit exhibit(2, 1, 2, {.offset = 1.0, .stride = 4.0, .input_side = 8});
  exhibit.truth.categories = {{"cat", {}, {"A"}}};
  exhibit.at(0, 0, 0) = exhibit.at(1, 0, 3) = 1.0F;
  exhibit.truth.rows[0] = {0, {}, {disc(8, {5, 5}, 1.0)}};
  exhibit.truth.rows[1] = {0, {}, {disc(8, {1, 1}, 1.0)}};
  const auto result = measure(exhibit, {0}, kQuarter);
  EXPECT_EQ(result.finding.value, 0.0);
  EXPECT_EQ(result.finding.controls.at("shuffled_images"), 1.0);
}

// 16 positions: 9 once, 5 five times, 0 ten times.
//   4/16: four cannot be had, one can: T = 5.  6/16: six above 0: T = 0.  7/16: T = 0 all the same.
//   1/32: none: T = 9.
TEST(PartInterpretabilityThreshold, TakesAsManyUnitsAsTiesAllow) {
  Exhibit exhibit(4, 1, 2, {.offset = 1.0, .stride = 4.0, .input_side = 8});
  exhibit.truth.categories = {{"cat", {}, {}}};
  for (auto& row : exhibit.truth.rows) row.category = 0;
  exhibit.values = {5, 0, 0, 5, 0, 9, 0, 0, 0, 5, 5, 0, 0, 0, 0, 5};
  const auto threshold = [&](double quantile) {
    return measure(exhibit, {0}, {.quantile = quantile}).filters[0].threshold;
  };
  EXPECT_EQ(threshold(4.0 / 16.0), 5.0);
  EXPECT_EQ(threshold(6.0 / 16.0), 0.0);
  EXPECT_EQ(threshold(7.0 / 16.0), 0.0);
  EXPECT_EQ(threshold(1.0 / 32.0), 9.0);
  exhibit.at(0, 0, 1) = -4.0F;
  exhibit.at(0, 0, 2) = NAN;
  EXPECT_EQ(threshold(0.5), 0.0);
}

TEST(PartInterpretabilityValue, DoesNotExistWithoutParts) {
  auto exhibit = worked_example();
  for (auto& row : exhibit.truth.rows) row.parts = {PixelSet(8), PixelSet(8)};
  for (const int64_t category : {0, -1}) {
    const auto result = measure(exhibit, {category}, kQuarter);
    EXPECT_EQ(result.filters[0].category, category);
    EXPECT_EQ(result.filters[0].best_part, -1);
    EXPECT_TRUE(std::isnan(result.finding.value));
    EXPECT_TRUE(std::isnan(result.finding.low));
  }
}

// 14 x 14 units; every row has part "spot", a disc at a random unit, and part "corner".
Exhibit spots(int64_t rows, int64_t filters, uint64_t seed, std::vector<int64_t>& spot) {
  Exhibit exhibit(rows, filters, 14, kVggGrid);
  Random random(seed);
  exhibit.truth.categories = {{"cat", {}, {"spot", "corner"}}};
  for (int64_t row = 0; row < rows; ++row) {
    spot.push_back(random.below(196));
    auto& truth = exhibit.truth.rows[row];
    truth.category = 0;
    truth.parts.push_back(disc(224, exhibit.grid.centre(spot.back() / 14, spot.back() % 14), 22.4));
    truth.parts.push_back(disc(224, {200, 200}, 40.0));
    for (int64_t filter = 0; filter < filters; ++filter)
      exhibit.at(row, filter, random.below(196)) = static_cast<float>(random.uniform(0.1, 1.0));
  }
  return exhibit;
}

constexpr InterpretabilityOptions kOneUnit{.quantile = 1.0 / 196.0, .iou = 0.2, .radius = 0.10};

TEST(PartInterpretabilityPlanted, OracleReachesOne) {
  std::vector<int64_t> spot;
  auto exhibit = spots(60, 1, 1, spot);
  std::fill(exhibit.values.begin(), exhibit.values.end(), 0.0F);
  for (int64_t row = 0; row < 60; ++row) exhibit.at(row, 0, spot[row]) = 1.0F;
  const auto result = measure(exhibit, {0}, kOneUnit);
  EXPECT_EQ(result.finding.value, 1.0);
  EXPECT_EQ(result.finding.low, 1.0);
  EXPECT_EQ(result.filters[0].best_part, 0);
  EXPECT_EQ(result.empty_share, 0.0);
  EXPECT_LT(result.finding.controls.at("shuffled_images"), 0.3);
  EXPECT_LT(result.finding.controls.at("constant_centre"), 0.3);
}

// Each P is a share of 200 rows near 0.1, with an error of 0.02; 40 filters.
TEST(PartInterpretabilityPlanted, RandomFiltersSitAtTheirControl) {
  std::vector<int64_t> spot;
  const auto exhibit = spots(200, 40, 2, spot);
  const auto result = measure(exhibit, std::vector<int64_t>(40, 0), kOneUnit);
  EXPECT_NEAR(result.finding.value, result.finding.controls.at("shuffled_images"), 0.015);
}

TEST(PartInterpretabilityPlanted, NaNNeverFires) {
  std::vector<int64_t> spot;
  auto exhibit = spots(20, 1, 3, spot);
  const auto before = measure(exhibit, {0}, kOneUnit);
  for (auto& value : exhibit.values) value = value == 0.0F ? NAN : value;
  const auto after = measure(exhibit, {0}, kOneUnit);
  EXPECT_EQ(after.filters[0].threshold, 0.0);
  EXPECT_EQ(after.finding.value, before.finding.value);
  EXPECT_EQ(after.empty_share, before.empty_share);
}

TEST(PartInterpretabilityCategory, IsTheBestWhenNotGiven) {
  std::vector<int64_t> spot;
  auto exhibit = spots(40, 1, 4, spot);
  exhibit.truth.categories.push_back({"dog", {}, {"spot", "corner"}});
  for (int64_t row = 0; row < 20; ++row) {
    exhibit.truth.rows[row].category = 1;
    for (int64_t cell = 0; cell < 196; ++cell) exhibit.at(row, 0, cell) = cell == spot[row] ? 1 : 0;
  }
  const auto result = measure(exhibit, {-1}, kOneUnit);
  EXPECT_EQ(result.filters[0].category, 1);
  EXPECT_EQ(result.finding.value, 1.0);
}

TEST(PartInterpretabilityBootstrap, ThreadsChangeNothing) {
  std::vector<int64_t> spot;
  const auto exhibit = spots(50, 6, 5, spot);
  const std::vector<int64_t> categories(6, 0);
  const auto one = measure(exhibit, categories, kOneUnit, {.resamples = 60, .threads = 1});
  const auto four = measure(exhibit, categories, kOneUnit, {.resamples = 60, .threads = 4});
  EXPECT_EQ(one.finding.value, four.finding.value);
  EXPECT_EQ(one.finding.low, four.finding.low);
  EXPECT_EQ(one.finding.high, four.finding.high);
  EXPECT_EQ(one.finding.controls, four.finding.controls);
}

// The best of two noisy parts is better still in a resample; the interval must not follow.
TEST(PartInterpretabilityBootstrap, IntervalHoldsItsValue) {
  std::vector<int64_t> spot;
  const auto exhibit = spots(100, 200, 7, spot);
  const auto finding = measure(exhibit, std::vector<int64_t>(200, 0), kOneUnit).finding;
  EXPECT_LT(finding.low, finding.value);
  EXPECT_GT(finding.high, finding.value);
}

// Whether a part is detected, the long way: every disc drawn, IoU by intersection_over_union.
bool detected(Exhibit& exhibit, int64_t row, int64_t filter, std::size_t part, double threshold) {
  PixelSet region(224);
  for (int64_t cell = 0; cell < 196; ++cell) {
    if (static_cast<double>(exhibit.at(row, filter, cell)) > threshold)
      region.insert_disc(exhibit.grid.centre(cell / 14, cell % 14), 22.4);
  }
  return intersection_over_union(region, exhibit.truth.rows[row].parts[part]) > 0.2;
}

double share_detected(Exhibit& exhibit,
                      int64_t filter,
                      std::size_t part,
                      double threshold,
                      std::span<const int32_t> row_counts) {
  ExistingMean mean;
  for (int64_t row = 0; row < exhibit.rows; ++row) {
    if (exhibit.truth.rows[row].parts[part].empty()) continue;
    mean.add(detected(exhibit, row, filter, part, threshold) ? 1.0 : 0.0, row_counts[row]);
  }
  return mean.value();
}

TEST(PartInterpretabilityBootstrap, TakesTheBestPartAnewInEveryResample) {
  std::vector<int64_t> spot;
  auto exhibit = spots(40, 4, 6, spot);
  for (int64_t row = 0; row < 40; row += 4) exhibit.truth.rows[row].parts[1] = PixelSet();
  const BootstrapOptions options{.resamples = 80, .seed = 5};
  const auto result = measure(exhibit, std::vector<int64_t>(4, 0), kOneUnit, options);
  const auto by_the_book = [&](const Resample& resample) {
    ExistingMean mean;
    for (int64_t filter = 0; filter < 4; ++filter) {
      const double threshold = result.filters[filter].threshold;
      mean.add(std::max(share_detected(exhibit, filter, 0, threshold, resample.rows),
                        share_detected(exhibit, filter, 1, threshold, resample.rows)),
               resample.filters[filter]);
    }
    return mean.value();
  };
  const std::vector<int32_t> once(40, 1);
  EXPECT_NEAR(result.finding.value, by_the_book({once, once}), 1e-14);
  const auto wanted = centred_bootstrap_interval(result.finding.value, 40, 4, options, by_the_book);
  EXPECT_NEAR(result.finding.low, wanted.low, 1e-14);
  EXPECT_NEAR(result.finding.high, wanted.high, 1e-14);
  EXPECT_LT(result.finding.low, result.finding.high);
}

}  // namespace
}  // namespace partwise::metrics
