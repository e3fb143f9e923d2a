// Filters whose worth is known beforehand, on the synthetic animals: the judge must say so.
#include "partwise/base/random.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/purity.h"
#include "partwise/models/examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace partwise::judging {
namespace {

constexpr int64_t kSide = 64;  // one unit a pixel
constexpr metrics::UnitGrid kGrid{.offset = 0.0, .stride = 1.0, .input_side = kSide};
enum Filter : int64_t { kOracle, kConstant, kRandom, kFilters };

class PlantedTruth : public testing::Test {
 protected:
  void SetUp() override {
    datasets::SyntheticOptions drawing;
    drawing.images = 40;
    drawing.categories = 2;
    drawing.size = kSide;
    drawing.test_share = 0.0;
    const auto dataset = datasets::write_synthetic_animals(root_, drawing, 2);
    const auto& category = dataset.categories.front();
    truth_ = models::truth_of(dataset, std::vector<int64_t>{category.id},
                              datasets::samples_of_split(dataset, "train", false), kSide);
    head_ = index_of(category.parts, "head");
    landmark_ = index_of(category.landmarks, "head");
    std::erase_if(truth_.rows, [&](const metrics::RowTruth& row) {
      return row.category != 0 || row.parts[head_].empty() || row.landmarks[landmark_].size() != 1;
    });
    fire();
  }
  void TearDown() override { remove_folder(root_); }

  static std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }

  float& at(std::size_t row, Filter filter, int64_t x, int64_t y) {
    const auto map = row * kFilters + static_cast<std::size_t>(filter);
    return values_[map * kSide * kSide + static_cast<std::size_t>(y * kSide + x)];
  }

  // The oracle fires on every pixel of the head, strongest at its landmark.
  void fire() {
    Random random(1);
    values_.resize(truth_.rows.size() * kFilters * kSide * kSide);
    for (std::size_t row = 0; row < truth_.rows.size(); ++row) {
      for (int64_t y = 0; y < kSide; ++y) {
        for (int64_t x = 0; x < kSide; ++x)
          at(row, kOracle, x, y) = truth_.rows[row].parts[head_].contains(x, y) ? 1.0F : 0.0F;
      }
      const auto [x, y] = truth_.rows[row].landmarks[landmark_].front();
      const auto pixel = [](double place) {
        return std::clamp<int64_t>(std::llround(place), 0, kSide - 1);
      };
      at(row, kOracle, pixel(x), pixel(y)) = 2.0F;
      at(row, kConstant, 20, 40) = 1.0F;
      at(row, kRandom, random.below(kSide), random.below(kSide)) = 1.0F;
    }
  }

  [[nodiscard]] metrics::Maps maps() const {
    return {values_, static_cast<int64_t>(truth_.rows.size()), kFilters, kSide};
  }

  std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) / "partwise-planted-test";
  metrics::Truth truth_;
  std::size_t head_ = 0;
  std::size_t landmark_ = 0;
  std::vector<float> values_;
  const std::vector<int64_t> category_ = std::vector<int64_t>(kFilters, 0);
};

TEST_F(PlantedTruth, AnOracleOfTheHeadReachesAPartInterpretabilityOfOne) {
  ASSERT_GE(truth_.rows.size(), 20U);
  // Discs smaller than a pixel: the region is the head itself, all units above 0 count.
  const auto found = metrics::part_interpretability(
      metrics::source_of(maps()), kGrid, truth_, category_,
      {.quantile = 0.5, .iou = 0.2, .radius = 0.5 / kSide}, {.resamples = 20});
  EXPECT_EQ(found.filters[kOracle].interpretability, 1.0);
  EXPECT_EQ(found.filters[kOracle].best_part, static_cast<int64_t>(head_));
  EXPECT_EQ(found.filters[kOracle].empty_share, 0.0);
  EXPECT_LT(found.filters[kRandom].interpretability, 0.2);
}

TEST_F(PlantedTruth, AnOracleOfTheHeadHasTheLowestInstability) {
  const auto found = metrics::location_instability(metrics::summarise(maps(), 0), kGrid, truth_,
                                                   category_, {}, {.resamples = 20});
  const auto& oracle = found.filters[kOracle];
  // A pixel's rounding: at most half a diagonal of a pixel, over the picture's.
  EXPECT_LT(oracle.by_landmark[landmark_], 0.5 / kSide);
  EXPECT_LT(oracle.instability, found.filters[kConstant].instability);
  EXPECT_LT(oracle.instability, found.filters[kRandom].instability);
  EXPECT_LT(oracle.ratio, 0.8);
}

TEST_F(PlantedTruth, AConstantFilterHasARatioOfExactlyOne) {
  const auto found = metrics::location_instability(metrics::summarise(maps(), 0), kGrid, truth_,
                                                   category_, {}, {.resamples = 20});
  EXPECT_EQ(found.filters[kConstant].ratio, 1.0);
}

// Forty random filters, so that their mean is sharp.
TEST_F(PlantedTruth, RandomFiltersSitAtTheirControls) {
  constexpr int64_t kMany = 40;
  Random random(2);
  const auto rows = static_cast<int64_t>(truth_.rows.size());
  std::vector<float> values(static_cast<std::size_t>(rows * kMany * kSide * kSide));
  for (int64_t map = 0; map < rows * kMany; ++map)
    values[static_cast<std::size_t>(map * kSide * kSide + random.below(kSide * kSide))] = 1.0F;
  const metrics::Maps noise{values, rows, kMany, kSide};
  const std::vector<int64_t> category(kMany, 0);
  const auto place = metrics::location_instability(metrics::summarise(noise, 0), kGrid, truth_,
                                                   category, {}, {.resamples = 50});
  EXPECT_NEAR(place.ratio.value, 1.0, 0.03);
  EXPECT_NEAR(place.instability.value, place.instability.controls.at("uniform_random"), 0.01);
  const auto parts =
      metrics::part_interpretability(metrics::source_of(noise), kGrid, truth_, category,
                                     {.quantile = 0.01, .iou = 0.05}, {.resamples = 50});
  EXPECT_NEAR(parts.finding.value, parts.finding.controls.at("shuffled_images"), 0.05);
}

}  // namespace
}  // namespace partwise::judging
