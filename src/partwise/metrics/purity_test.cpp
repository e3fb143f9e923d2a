#include "partwise/metrics/purity.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

Finding purity_of(const std::vector<float>& values,
                  int64_t rows,
                  int64_t filters,
                  int64_t side,
                  int64_t threads = 1) {
  return purity(source_of({.values = values, .rows = rows, .filters = filters, .side = side}, 3),
                {.resamples = 100, .threads = threads});
}

TEST(Purity, OfASingleActiveCellIsOne) {
  std::vector<float> map(196);
  map[75] = 0.3F;
  const auto finding = purity_of(map, 1, 1, 14);
  EXPECT_EQ(finding.value, 1.0);
  EXPECT_EQ(finding.low, 1.0);
}

// n = 14: positive within L1 distance 3, 25 cells around an inner peak, 1 + 2 + 3 + 4 = 10 in the
// corner, where the first of equal cells lies.
TEST(Purity, OfAUniformMapIsTheSupportsShare) {
  std::vector<float> map(196, 1.0F);
  EXPECT_DOUBLE_EQ(purity_of(map, 1, 1, 14).value, 10.0 / 196.0);
  map[7 * 14 + 7] = std::nextafter(1.0F, 2.0F);
  const auto finding = purity_of(map, 1, 1, 14);
  EXPECT_NEAR(finding.value, 25.0 / 196.0, 1e-8);  // the peak is one ulp of a float above 1
  EXPECT_DOUBLE_EQ(finding.controls.at("uniform_map"), 25.0 / 196.0);
}

// n = 8: the template is 0, not positive, at distance 8 / 4 = 2.
TEST(Purity, SupportEndsWhereTheTemplateIsZero) {
  std::vector<float> map(64);
  map[4 * 8 + 4] = 2.0F;
  map[4 * 8 + 5] = 1.0F;
  map[5 * 8 + 5] = 1.0F;
  EXPECT_DOUBLE_EQ(purity_of(map, 1, 1, 8).value, 3.0 / 4.0);
}

// n = 4: only the peak itself is positive. Row 0: filters (3 of 3 + 1) and (2 of 2 + 2), so
// (3 + 2) / 8. Row 1: (1 of 1) and silent, so 1. Row 2 is silent and left out.
// Even maps: always 1 of 16 cells.
TEST(Purity, SumsOverFiltersAndAveragesOverRows) {
  std::vector<float> values(std::size_t{3} * 2 * 16);
  values[5] = 3.0F;
  values[6] = 1.0F;
  values[16 + 0] = 2.0F;
  values[16 + 15] = 2.0F;
  values[32 + 9] = 1.0F;
  const auto finding = purity_of(values, 3, 2, 4);
  EXPECT_DOUBLE_EQ(finding.facts.at("silent_rows").get<double>(), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(finding.value, (5.0 / 8.0 + 1.0) / 2.0);
  EXPECT_DOUBLE_EQ(finding.controls.at("uniform_map"), 1.0 / 16.0);
  EXPECT_GE(finding.low, 0.5);
  EXPECT_LE(finding.high, 1.0);
}

// n = 8: within distance 1 lie 5 cells around an inner peak. Peak 2 of 4 in all: the other 2 fall
// on one of the 4 cells near it with probability 4 / 63 each.
TEST(Purity, ScatteredIsTheExpectationOverRandomPlaces) {
  std::vector<float> map(64);
  map[4 * 8 + 4] = 2.0F;
  map[4 * 8 + 5] = 1.0F;
  map[0] = 1.0F;
  const auto finding = purity_of(map, 1, 1, 8);
  EXPECT_DOUBLE_EQ(finding.value, 0.75);
  EXPECT_DOUBLE_EQ(finding.controls.at("scattered"), (2.0 + 2.0 * 4.0 / 63.0) / 4.0);
}

// Sparse maps without any order are pure: only `scattered` says that nothing was learned.
TEST(Purity, OfSparseNoiseIsHighAndAtItsScatteredControl) {
  Random random(9);
  std::vector<float> values(std::size_t{300} * 4 * 196);
  for (auto& value : values)
    value = random.chance(0.01) ? static_cast<float>(random.uniform()) : 0.0F;
  const auto finding = purity_of(values, 300, 4, 14);
  EXPECT_GT(finding.value, 0.5);
  EXPECT_LT(finding.controls.at("uniform_map"), 0.15);
  EXPECT_NEAR(finding.value, finding.controls.at("scattered"), 0.015);
}

TEST(Purity, TakesNaNForNothing) {
  std::vector<float> map(16);
  map[0] = NAN;
  map[3] = 3.0F;
  map[12] = 1.0F;
  EXPECT_DOUBLE_EQ(purity_of(map, 1, 1, 4).value, 0.75);
}

TEST(Purity, OfSilentMapsDoesNotExist) {
  EXPECT_TRUE(std::isnan(purity_of(std::vector<float>(32), 2, 1, 4).value));
}

TEST(Purity, DoesNotDependOnScaleOrThreads) {
  Random random(5);
  std::vector<float> values(std::size_t{20} * 6 * 49);
  for (auto& value : values) value = static_cast<float>(random.uniform());
  auto larger = values;
  for (auto& value : larger) value *= 1024.0F;
  const auto finding = purity_of(values, 20, 6, 7);
  for (const auto& other : {purity_of(larger, 20, 6, 7), purity_of(values, 20, 6, 7, 4)}) {
    EXPECT_EQ(other.value, finding.value);
    EXPECT_EQ(other.low, finding.low);
    EXPECT_EQ(other.high, finding.high);
  }
}

// Noise that peaks anywhere holds the uniform share and what its peak stands out by: the peak of 49
// uniform numbers is 49 / 50 on average, twice the mean, so about one more cell of 49.
TEST(Purity, OfNoiseIsAtItsControlButForThePeakItself) {
  Random random(6);
  std::vector<float> values(std::size_t{400} * 8 * 49);
  for (auto& value : values) value = static_cast<float>(random.uniform());
  const auto finding = purity_of(values, 400, 8, 7);
  EXPECT_NEAR(finding.value - finding.controls.at("uniform_map"), 1.0 / 49.0, 0.004);
}

}  // namespace
}  // namespace partwise::metrics
