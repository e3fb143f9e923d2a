#include "partwise/metrics/network_dissection.h"

#include "partwise/base/random.h"
#include "partwise/metrics/exhibit_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace partwise::metrics {
namespace {

NetworkDissection dissect(const Exhibit& exhibit,
                          const DissectionOptions& options,
                          BootstrapOptions bootstrap = {.resamples = 50}) {
  return network_dissection(source_of(exhibit.maps(), 16), exhibit.grid, exhibit.truth, options,
                            bootstrap);
}

// Units at 1 and 5 of 8 x 8 pixels. Row 0 fires 8 in the lower left cell, row 1 is silent, row 2
// shows no object. Enlarged, row 0 is 8 (1 - u) v with u = 0 0 1/4 1/2 3/4 1 1 1 from left to right
// and v the same downwards. Both cats have an A: 3 pixels in row 0, two of them in the lower left
// corner, and 1 in row 1; only row 1 has a B.
Exhibit worked_example() {
  Exhibit exhibit(3, 1, 2, {.offset = 1.0, .stride = 4.0, .input_side = 8});
  exhibit.truth.categories = {{"cat", {}, {"A", "B"}}, {"dog", {}, {"A"}}};
  exhibit.at(0, 0, 2) = 8.0F;
  exhibit.truth.rows[0] = {0, {}, {pixels(8, {{0, 7}, {1, 7}, {7, 7}}), PixelSet()}};
  exhibit.truth.rows[1] = {1, {}, {pixels(8, {{4, 4}})}};
  exhibit.truth.rows[2] = {-1, {}, {}};
  return exhibit;
}

// One of twelve cells may lie above T = 0; then 5 x 6 pixels fire, 2 of A's 4: 2 / (30 + 4 - 2).
TEST(NetworkDissection, EqualsTheWorkedExample) {
  const auto result = dissect(worked_example(), {.quantile = 1.0 / 12.0});
  EXPECT_EQ(result.units[0].threshold, 0.0);
  EXPECT_DOUBLE_EQ(result.units[0].iou, 2.0 / 32.0);
  EXPECT_EQ(result.units[0].part, 0);
  EXPECT_EQ(result.detectors.value, 1.0);
  EXPECT_EQ(result.detectors.facts.at("unique"), 1);
  EXPECT_EQ(dissect(worked_example(), {.quantile = 1.0 / 12.0, .iou = 0.07}).detectors.value, 0.0);
}

// Of 192 pixels the 6 with value 8 may lie above T, so T = 6, the next: 2 / (6 + 4 - 2).
TEST(NetworkDissection, TakesTheQuantileOfPixelsWhereAskedTo) {
  const auto result =
      dissect(worked_example(), {.quantile = 6.0 / 192.0, .quantile_of = QuantileOf::pixels});
  EXPECT_EQ(result.units[0].threshold, 6.0);
  EXPECT_DOUBLE_EQ(result.units[0].iou, 0.25);
}

// Every second pixel: 1, 3, 5, 7. u = 0 1/2 1 1, v the same: 8 at pixels (1, 5) and (1, 7), of A
// only (1, 7) and (7, 7) are looked at; row 1's A is not. 1 / (2 + 2 - 1).
TEST(NetworkDissection, MayLookAtFewerPixels) {
  const auto result = dissect(
      worked_example(), {.quantile = 2.0 / 48.0, .quantile_of = QuantileOf::pixels, .step = 2});
  EXPECT_EQ(result.units[0].threshold, 4.0);
  EXPECT_DOUBLE_EQ(result.units[0].iou, 1.0 / 3.0);
}

// Units 0 to 2 follow the head, 3 the tail, the rest fire anywhere, in three of four rows: fewer
// cells than may lie above T, so that a cell fires as large as it is enlarged, 31 pixels wide.
Exhibit planted(uint64_t seed) {
  Exhibit exhibit(120, 20, 14, kVggGrid);
  Random random(seed);
  exhibit.truth.categories = {{"cat", {}, {"head", "tail"}}};
  for (int64_t row = 0; row < 120; ++row) {
    exhibit.truth.rows[row] = {0, {}, {PixelSet(), PixelSet()}};
    if (row % 4 == 0) continue;
    const std::vector<int64_t> spots{random.below(196), random.below(196)};
    for (std::size_t k = 0; k < 2; ++k) {
      exhibit.truth.rows[row].parts[k] =
          disc(224, kVggGrid.centre(spots[k] / 14, spots[k] % 14), 12.0);
    }
    for (int64_t f = 0; f < 20; ++f) {
      exhibit.at(row, f,
                 f < 3   ? spots[0]
                 : f < 4 ? spots[1]
                         : random.below(196)) = static_cast<float>(random.uniform(0.9, 1.0));
    }
  }
  return exhibit;
}

TEST(NetworkDissectionPlanted, FindsTheDetectorsInBothConventions) {
  const auto exhibit = planted(1);
  for (const auto& options : {kDissection2017, kDissection2020}) {
    const auto result = dissect(exhibit, options);
    for (int64_t unit = 0; unit < 4; ++unit) {
      EXPECT_GT(result.units[unit].iou, 0.3);
      EXPECT_EQ(result.units[unit].part, unit < 3 ? 0 : 1);
      EXPECT_LT(result.units[unit].chance, 0.04);
    }
    EXPECT_EQ(result.detectors.value, 4.0 / 20.0);
    EXPECT_EQ(result.detectors.facts.at("unique"), 2);
    EXPECT_EQ(result.detectors.controls.at("shuffled_images"), 0.0);
    EXPECT_EQ(result.detectors.facts.at("chance_unique"), 0);
  }
}

// Rows come singly, in a random order, on several threads.
TEST(NetworkDissection, DoesNotDependOnBatchesOrderOrThreads) {
  const auto exhibit = planted(2);
  std::vector<int64_t> order(120);
  std::iota(order.begin(), order.end(), 0);
  Random random(1);
  shuffle(order, random);
  const Maps maps = exhibit.maps();
  const MapSource singly{120, 20, 14, [&](const VisitBatch& visit) {
                           const std::size_t size = 20 * 196;
                           for (const int64_t row : order)
                             visit({maps.values.subspan(row * size, size), 1, 20, 14}, row);
                         }};
  for (const auto& options : {kDissection2017, kDissection2020}) {
    const auto whole = network_dissection(source_of(maps, 120), exhibit.grid, exhibit.truth,
                                          options, {.resamples = 30, .threads = 1});
    const auto other = network_dissection(singly, exhibit.grid, exhibit.truth, options,
                                          {.resamples = 30, .threads = 3});
    EXPECT_EQ(whole.detectors.low, other.detectors.low);
    EXPECT_EQ(whole.detectors.high, other.detectors.high);
    for (std::size_t unit = 0; unit < 20; ++unit) {
      EXPECT_EQ(whole.units[unit].threshold, other.units[unit].threshold);
      EXPECT_EQ(whole.units[unit].iou, other.units[unit].iou);
      EXPECT_EQ(whole.units[unit].chance, other.units[unit].chance);
    }
  }
}

TEST(NetworkDissection, WithoutPartsDoesNotExist) {
  auto exhibit = worked_example();
  for (auto& row : exhibit.truth.rows) row.category = -1;
  const auto result = dissect(exhibit, {});
  EXPECT_TRUE(std::isnan(result.detectors.value));
  EXPECT_EQ(result.units[0].part, -1);
}

}  // namespace
}  // namespace partwise::metrics
