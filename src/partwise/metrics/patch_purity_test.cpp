#include "partwise/metrics/patch_purity.h"

#include "partwise/base/random.h"
#include "partwise/metrics/exhibit_fixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

PatchPurity measure(const Exhibit& exhibit,
                    PatchPurityOptions options,
                    BootstrapOptions bootstrap = {.resamples = 50}) {
  return patch_purity(summarise(exhibit.maps(), 1), exhibit.grid, exhibit.truth, options,
                      bootstrap);
}

// Units at 2 and 7 of a 10 x 10 input, patches of half side 2. The four rows peak at 4, 3, 2 and 1;
// the top three count. "left eye" and "right eye" are one part.
//   row 0, patch about (2, 2): left eye inside at (4, 0), tail at (9, 9) outside.
//   row 1, about (7, 7): right eye at (7, 9) inside, no tail.
//   row 2, about (2, 2): right eye at (7, 7) outside, no tail.
// Eye: 2 of 3. Tail: 0 of the 1 row that shows it.
Exhibit worked_example() {
  Exhibit exhibit(4, 1, 2, {.offset = 2.0, .stride = 5.0, .input_side = 10});
  exhibit.truth.categories = {{"cat", {"left eye", "right eye", "tail"}, {}}};
  exhibit.at(0, 0, 0) = 4.0F;
  exhibit.at(1, 0, 3) = 3.0F;
  exhibit.at(2, 0, 0) = 2.0F;
  exhibit.at(3, 0, 0) = 1.0F;
  exhibit.truth.rows[0] = {0, {{{4, 0}}, {}, {{9, 9}}}, {}};
  exhibit.truth.rows[1] = {0, {{}, {{7, 9}}, {}}, {}};
  exhibit.truth.rows[2] = {0, {{}, {{7, 7}}, {}}, {}};
  exhibit.truth.rows[3] = {0, {{}, {{2, 2}}, {{2, 2}}}, {}};
  return exhibit;
}

constexpr PatchPurityOptions kTopThree{.top_images = 3, .box = 0.4};

TEST(PatchPurity, EqualsTheWorkedExample) {
  const auto result = measure(worked_example(), kTopThree);
  EXPECT_DOUBLE_EQ(result.purity.finding.value, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(result.strict.finding.value, 2.0 / 3.0);
  EXPECT_EQ(result.purity.finding.facts.at("deviation"), 0.0);
  EXPECT_EQ(result.purity.finding.facts.at("part_related"), 1.0);
}

// Were the tail of row 0 inside its patch, the one row that shows it would make it pure.
TEST(PatchPurity, IsDecidedByAPartSeenOnceUnlessStrict) {
  auto exhibit = worked_example();
  exhibit.truth.rows[0].landmarks[2] = {{3, 3}};
  const auto result = measure(exhibit, kTopThree);
  EXPECT_EQ(result.purity.finding.value, 1.0);
  EXPECT_DOUBLE_EQ(result.strict.finding.value, 2.0 / 3.0);
}

// Pushed inside, the patch about (2, 2) covers pixels 0 to 3; centre 4.5 reaches from 2.5 to 6.5.
TEST(PatchPurity, ConstantCentreHoldsWhatLiesInTheMiddle) {
  auto exhibit = worked_example();
  for (auto& row : exhibit.truth.rows) row.landmarks = {{}, {{5, 5}}, {}};
  const auto result = measure(exhibit, kTopThree);
  EXPECT_EQ(result.purity.finding.controls.at("constant_centre"), 1.0);
  EXPECT_DOUBLE_EQ(result.purity.finding.value, 1.0 / 3.0);
}

TEST(PatchPurity, WithoutLandmarksDoesNotExist) {
  auto exhibit = worked_example();
  for (auto& row : exhibit.truth.rows) row.category = -1;
  const auto result = measure(exhibit, kTopThree);
  EXPECT_TRUE(std::isnan(result.purity.finding.value));
  EXPECT_TRUE(std::isnan(result.strict.finding.value));
}

// 32 of 224 pixels: a patch holds a random landmark with probability (1/7)^2, about 0.02.
TEST(PatchPurityPlanted, TellsFollowersFromRandomFilters) {
  Exhibit exhibit(150, 40, 14, kVggGrid);
  Random random(2);
  exhibit.truth.categories = {{"cat", {"head", "tail"}, {}}};
  for (int64_t row = 0; row < 150; ++row) {
    const int64_t spot = random.below(196);
    exhibit.truth.rows[row] = {0,
                               {{kVggGrid.centre(spot / 14, spot % 14)},
                                {{random.uniform(0, 224), random.uniform(0, 224)}}},
                               {}};
    for (int64_t f = 0; f < 40; ++f) {
      exhibit.at(row, f, f == 0 ? spot : random.below(196)) =
          static_cast<float>(random.uniform(0.1, 1.0));
    }
  }
  const auto result = measure(exhibit, {});
  EXPECT_EQ(result.purity.by_filter[0], 1.0);
  double others = 0.0;
  for (std::size_t f = 1; f < 40; ++f) others += result.purity.by_filter[f] / 39.0;
  EXPECT_LT(others, 0.1);
  EXPECT_NEAR(others, result.purity.finding.controls.at("shuffled_images"), 0.03);
}

TEST(PatchPurity, DoesNotDependOnThreads) {
  const auto one = measure(worked_example(), kTopThree, {.resamples = 60, .threads = 1});
  const auto three = measure(worked_example(), kTopThree, {.resamples = 60, .threads = 3});
  EXPECT_EQ(one.purity.finding.low, three.purity.finding.low);
  EXPECT_EQ(one.purity.finding.controls, three.purity.finding.controls);
}

}  // namespace
}  // namespace partwise::metrics
