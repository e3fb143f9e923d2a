#include "partwise/metrics/part_consistency.h"

#include "partwise/base/random.h"
#include "partwise/metrics/exhibit_fixture.h"
#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

PartConsistency measure(const Exhibit& exhibit,
                        const std::vector<int64_t>& categories,
                        ConsistencyOptions options) {
  return part_consistency(summarise(exhibit.maps(), 1), exhibit.grid, exhibit.truth, categories,
                          options, {.resamples = 50});
}

// Units at 2 and 7 of a 10 x 10 input, regions of half side 2. Filter 0 fires at (2, 2) in all six
// rows; the head lies within in four of the five rows that show it (at the rim once), the tail in
// none. The last row is of another category.
Exhibit worked_example() {
  Exhibit exhibit(6, 1, 2, {.offset = 2.0, .stride = 5.0, .input_side = 10});
  exhibit.truth.categories = {{"cat", {"head", "tail"}, {}}, {"dog", {"head"}, {}}};
  for (int64_t row = 0; row < 6; ++row) exhibit.at(row, 0, 0) = 1.0F;
  for (int64_t row = 0; row < 4; ++row) exhibit.truth.rows[row] = {0, {{{1, 1}}, {{9, 9}}}, {}};
  exhibit.truth.rows[3].landmarks[0] = {{8, 8}, {4, 4}};
  exhibit.truth.rows[4] = {0, {{{5, 5}}, {}}, {}};
  exhibit.truth.rows[5] = {1, {{{9, 9}}}, {}};
  return exhibit;
}

TEST(PartConsistency, EqualsTheWorkedExample) {
  const auto result = measure(worked_example(), {0}, {.box = 0.4});
  EXPECT_EQ(result.shares, (std::vector<double>{0.8}));
  EXPECT_EQ(result.finding.value, 1.0);
  EXPECT_EQ(measure(worked_example(), {0}, {.box = 0.4, .share = 0.81}).finding.value, 0.0);
  EXPECT_EQ(measure(worked_example(), {1}, {.box = 0.4}).finding.value, 0.0);
}

// 4.5 reaches 2.5 to 6.5: only the head of row 4, and (4, 4) of row 3.
TEST(PartConsistency, ConstantCentreIsAControl) {
  const auto result = measure(worked_example(), {0}, {.box = 0.4, .share = 0.4});
  EXPECT_EQ(result.finding.controls.at("constant_centre"), 1.0);
  EXPECT_EQ(measure(worked_example(), {0}, {.box = 0.4}).finding.controls.at("constant_centre"),
            0.0);
}

TEST(PartConsistency, WithoutCategoryOrLandmarkDoesNotExist) {
  auto exhibit = worked_example();
  EXPECT_TRUE(std::isnan(measure(exhibit, {-1}, {}).finding.value));
  for (auto& row : exhibit.truth.rows)
    std::fill(row.landmarks.begin(), row.landmarks.end(), std::vector<Point>{});
  const auto result = measure(exhibit, {0}, {});
  EXPECT_TRUE(std::isnan(result.finding.value));
}

// Noise moves the peaks of rows 0 and 4 to (7, 2), which reaches from 5 to 9 in x: row 0 loses its
// head, row 4's head at (5, 5) stays outside. 4 of 5 rows keep their set.
TEST(PartStability, EqualsTheWorkedExample) {
  const auto exhibit = worked_example();
  auto noisy = exhibit;
  for (const int64_t row : {0, 4}) noisy.at(row, 0, 1) = 2.0F;
  const auto stability = [&](const Exhibit& other) {
    return part_stability(summarise(exhibit.maps(), 1), summarise(other.maps(), 1), exhibit.grid,
                          exhibit.truth, std::vector<int64_t>{0}, {.box = 0.4}, {.resamples = 50});
  };
  EXPECT_DOUBLE_EQ(stability(noisy).value, 0.8);
  EXPECT_EQ(stability(exhibit).value, 1.0);
  EXPECT_EQ(stability(exhibit).controls.at("constant_filter"), 1.0);
  EXPECT_EQ(stability(exhibit).controls.at("other_images"), 1.0);  // it is a constant filter
}

// 40 filters over 100 rows with heads anywhere: filter 0 follows the head, the others fire
// anywhere. A box of 72 pixels about one cell holds the centres of cells up to two away: 64 of the
// 196 pairs of columns, and of rows, so that noise holds the head in (64/196)^2 = 10.66 % of rows.
// 3900 draws leave a standard error of 0.5 %.
TEST(PartConsistencyPlanted, FindsTheFilterThatFollowsAPart) {
  Exhibit exhibit(100, 40, 14, kVggGrid);
  Random random(3);
  exhibit.truth.categories = {{"cat", {"head"}, {}}};
  for (int64_t row = 0; row < 100; ++row) {
    const int64_t spot = random.below(196);
    exhibit.truth.rows[row] = {0, {{kVggGrid.centre(spot / 14, spot % 14)}}, {}};
    for (int64_t f = 0; f < 40; ++f) exhibit.at(row, f, f == 0 ? spot : random.below(196)) = 1.0F;
  }
  const auto result = measure(exhibit, std::vector<int64_t>(40, 0), {});
  EXPECT_EQ(result.finding.value, 1.0 / 40.0);
  EXPECT_EQ(result.shares[0], 1.0);
  ExistingMean noise;
  for (std::size_t f = 1; f < 40; ++f) {
    noise.add(result.shares[f]);
    EXPECT_LT(result.shares[f], 0.3) << f;  // six standard errors of one filter
  }
  EXPECT_NEAR(noise.value(), 64.0 * 64.0 / (196.0 * 196.0), 0.015);
  EXPECT_EQ(result.finding.controls.at("shuffled_images"), 0.0);
  const auto maps = summarise(exhibit.maps(), 1);
  const auto stable = part_stability(maps, maps, exhibit.grid, exhibit.truth,
                                     std::vector<int64_t>(40, 0), {}, {.resamples = 20});
  EXPECT_EQ(stable.value, 1.0);
  EXPECT_LT(stable.controls.at("other_images"), 0.9);
}

TEST(PartStability, RejectsMapsOfAnotherNet) {
  const auto exhibit = worked_example();
  const Exhibit other(6, 2, 2, exhibit.grid);
  EXPECT_THROW(part_stability(summarise(exhibit.maps(), 1), summarise(other.maps(), 1),
                              exhibit.grid, exhibit.truth, std::vector<int64_t>{0}, {}, {}),
               std::logic_error);
}

}  // namespace
}  // namespace partwise::metrics
