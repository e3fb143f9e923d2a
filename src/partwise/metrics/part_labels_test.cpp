#include "partwise/metrics/part_labels.h"

#include "partwise/base/random.h"
#include "partwise/metrics/exhibit_fixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

constexpr InterpretabilityOptions kQuarter{.quantile = 0.25, .iou = 0.2, .radius = 0.125};

// Units at (1, 1), (5, 1), (1, 5), (5, 5) of an 8 x 8 input, pluses of 5 pixels. Both rows fire at
// one unit. Row 0 at (1, 1): A is 1 of the plus (1/5), B the whole plus (1). Row 1 at (5, 5): A is
// 3 of it (3/5), B lies elsewhere (0); C is not shown by any row. Means: A 0.4, B 0.5.
TEST(PartLabels, EqualTheWorkedExample) {
  Exhibit exhibit(2, 2, 2, {.offset = 1.0, .stride = 4.0, .input_side = 8});
  exhibit.truth.categories = {{"cat", {}, {"A", "B", "C"}}};
  exhibit.at(0, 0, 0) = exhibit.at(1, 0, 3) = 1.0F;
  exhibit.truth.rows[0] = {0, {}, {pixels(8, {{1, 1}}), disc(8, {1, 1}, 1.0), PixelSet()}};
  exhibit.truth.rows[1] = {
      0, {}, {pixels(8, {{5, 5}, {4, 5}, {5, 4}}), pixels(8, {{0, 0}}), PixelSet(8)}};
  const auto result = part_labels(source_of(exhibit.maps()), exhibit.grid, exhibit.truth,
                                  std::vector<int64_t>{0, -1}, kQuarter, {.resamples = 50});
  EXPECT_EQ(result.parts, (std::vector<int64_t>{1, -1}));
  EXPECT_DOUBLE_EQ(result.iou.finding.value, 0.5);
  EXPECT_DOUBLE_EQ(result.margin.finding.value, 0.1);
  EXPECT_EQ(result.iou.finding.facts.at("share_of_filters").at("cat"),
            (nlohmann::json{{"A", 0.0}, {"B", 1.0}, {"C", 0.0}}));
  // The plus of row 0 over row 1: A 0, B 0; that of row 1 over row 0: 0, 0.
  EXPECT_EQ(result.iou.finding.controls.at("shuffled_images"), 0.0);
}

// Three filters follow the head, one the tail, four fire anywhere.
TEST(PartLabelsPlanted, NameThePartThatWasFollowed) {
  Exhibit exhibit(80, 8, 14, kVggGrid);
  Random random(1);
  exhibit.truth.categories = {{"cat", {}, {"head", "tail"}}};
  for (int64_t row = 0; row < 80; ++row) {
    const std::vector<int64_t> spots{random.below(196), random.below(196)};
    exhibit.truth.rows[row].category = 0;
    for (const int64_t spot : spots) {
      exhibit.truth.rows[row].parts.push_back(
          disc(224, kVggGrid.centre(spot / 14, spot % 14), 22.4));
    }
    for (int64_t f = 0; f < 8; ++f)
      exhibit.at(row, f, f < 3 ? spots[0] : f < 4 ? spots[1] : random.below(196)) = 1.0F;
  }
  const auto result =
      part_labels(source_of(exhibit.maps()), exhibit.grid, exhibit.truth,
                  std::vector<int64_t>(8, 0), {.quantile = 1.0 / 196.0}, {.resamples = 50});
  for (int64_t f = 0; f < 4; ++f) {
    EXPECT_EQ(result.parts[f], f < 3 ? 0 : 1);
    EXPECT_EQ(result.iou.by_filter[f], 1.0);
  }
  for (int64_t f = 4; f < 8; ++f) {
    EXPECT_LT(result.iou.by_filter[f], 0.15);
    EXPECT_LT(result.margin.by_filter[f], 0.1);
  }
  EXPECT_LT(result.iou.finding.controls.at("shuffled_images"), 0.15);
  const auto& shares = result.iou.finding.facts.at("share_of_filters").at("cat");
  EXPECT_GE(shares.at("head").get<double>(), 3.0 / 8.0);
  EXPECT_DOUBLE_EQ(shares.at("head").get<double>() + shares.at("tail").get<double>(), 1.0);
}

}  // namespace
}  // namespace partwise::metrics
