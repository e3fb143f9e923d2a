#include "partwise/metrics/truth.h"

#include "partwise/base/random.h"
#include "partwise/metrics/exhibit_fixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

int64_t count_by_looking(const PixelSet& set) {
  int64_t count = 0;
  for (int64_t y = 0; y < set.side(); ++y) {
    for (int64_t x = 0; x < set.side(); ++x) count += set.contains(x, y) ? 1 : 0;
  }
  return count;
}

TEST(PixelSetInsert, KeepsPixelsOnBothSidesOfAWord) {
  PixelSet set(130);
  for (const int64_t x : {0, 63, 64, 127, 128, 129}) set.insert(x, 129);
  set.insert(63, 129);
  EXPECT_EQ(set.area(), 6);
  EXPECT_TRUE(set.contains(64, 129));
  EXPECT_FALSE(set.contains(65, 129));
  EXPECT_FALSE(set.contains(-1, 129));
  EXPECT_FALSE(set.contains(0, 130));
  EXPECT_THROW(set.insert(130, 0), std::logic_error);
}

// Within 5 of a pixel lie 81 pixels (Gauss's circle problem: N(5) = 81), (3, 4) and (0, 5) on the
// rim among them.
TEST(PixelSetDisc, CountsItsRim) {
  PixelSet set(32);
  set.insert_disc({16, 16}, 5.0);
  EXPECT_EQ(set.area(), 81);
  EXPECT_TRUE(set.contains(19, 20));
  EXPECT_TRUE(set.contains(16, 21));
  EXPECT_FALSE(set.contains(20, 20));
}

TEST(PixelSetDisc, EqualsLookingAtEveryPixel) {
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const int64_t side = 1 + random.below(140);
    const auto reach = static_cast<double>(side);
    // Quarter pixels make rims that are met exactly.
    const auto quarter = [&](double low, double high) {
      return std::round(4.0 * random.uniform(low, high)) / 4.0;
    };
    const Point centre{quarter(-reach, 2 * reach), quarter(-reach, 2 * reach)};
    const double radius = quarter(0.0, reach);
    PixelSet set(side);
    set.insert_disc(centre, radius);
    int64_t wanted = 0;
    for (int64_t y = 0; y < side; ++y) {
      for (int64_t x = 0; x < side; ++x) {
        const double dx = static_cast<double>(x) - centre.x;
        const double dy = static_cast<double>(y) - centre.y;
        const bool inside = dx * dx + dy * dy <= radius * radius;
        ASSERT_EQ(set.contains(x, y), inside) << x << ' ' << y;
        wanted += inside ? 1 : 0;
      }
    }
    ASSERT_EQ(set.area(), wanted);
    ASSERT_EQ(set.empty(), wanted == 0);
  }
}

TEST(PixelSetDisc, FarOutsideIsEmpty) {
  PixelSet set(8);
  set.insert_disc({1e300, -1e300}, 1.0);
  EXPECT_TRUE(set.empty());
}

TEST(PixelSetUnion, AndClearAreThoseOfSets) {
  PixelSet a(100);
  PixelSet b(100);
  a.insert_disc({20, 30}, 9.0);
  b.insert_disc({28, 80}, 12.0);
  const int64_t separate = a.area() + b.area();
  a.insert_all(b);
  EXPECT_EQ(a.area(), separate);
  EXPECT_EQ(a.area(), count_by_looking(a));
  EXPECT_EQ(intersection_area(a, b), b.area());
  a.insert_all(PixelSet());
  EXPECT_EQ(a.area(), separate);
  a.clear();
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(count_by_looking(a), 0);
  a.insert(99, 99);
  EXPECT_EQ(a.area(), 1);
}

TEST(IntersectionOverUnion, OfThreeAndFourPixelsSharingTwoIsTwoFifths) {
  PixelSet a(8);
  PixelSet b(8);
  for (const int64_t x : {1, 2, 3}) a.insert(x, 4);
  for (const int64_t x : {2, 3, 4, 5}) b.insert(x, 4);
  EXPECT_EQ(intersection_area(a, b), 2);
  EXPECT_DOUBLE_EQ(intersection_over_union(a, b), 0.4);
}

TEST(IntersectionOverUnion, OfNothingIsZero) {
  EXPECT_EQ(intersection_over_union(PixelSet(8), PixelSet()), 0.0);
}

TEST(IntersectionOverUnion, OfDifferentPicturesIsOurBug) {
  PixelSet a(8);
  PixelSet b(9);
  a.insert(0, 0);
  b.insert(0, 0);
  EXPECT_THROW(intersection_area(a, b), std::logic_error);
}

TEST(TruthShape, KnowsTheRowsOfACategory) {
  Truth truth{.input_side = 8, .categories = {{"cat", {}, {}}, {"dog", {}, {}}}, .rows = {}};
  for (const int64_t category : {1, -1, 0, 1}) truth.rows.emplace_back().category = category;
  EXPECT_NO_THROW(expect_consistent(truth));
  EXPECT_EQ(rows_by_category(truth), (std::vector<std::vector<int64_t>>{{2}, {0, 3}}));
  truth.rows[2].category = 2;
  EXPECT_THROW(expect_consistent(truth), std::logic_error);
}

TEST(TruthShape, MustHaveEveryLandmarkOfTheCategory) {
  const Truth truth{.input_side = 8,
                    .categories = {{"cat", {"head", "tail"}, {}}},
                    .rows = {{.category = 0, .landmarks = {{{1, 1}}}, .parts = {}}}};
  EXPECT_THROW(expect_consistent(truth), std::logic_error);
}

TEST(Derangement, GivesEveryItemAnotherPartner) {
  Random random(1);
  for (std::size_t count = 2; count < 40; ++count) {
    const auto partner = derangement(count, random);
    EXPECT_EQ(std::set(partner.begin(), partner.end()).size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_NE(partner[i], i);
  }
}

TEST(Derangement, LeavesASingleItemAlone) {
  Random random(1);
  EXPECT_EQ(derangement(1, random).front(), 0U);
  EXPECT_TRUE(derangement(0, random).empty());
}

TEST(OtherRows, StayInTheirCategory) {
  Truth truth{.input_side = 8, .categories = {{"cat", {}, {}}, {"dog", {}, {}}}, .rows = {}};
  for (const int64_t category : {0, 1, -1, 1, 0, 0}) truth.rows.emplace_back().category = category;
  const auto other = other_rows(truth, Random(2));
  for (std::size_t row = 0; row < 6; ++row) {
    EXPECT_EQ(truth.rows[other[row]].category, truth.rows[row].category);
    EXPECT_EQ(other[row] == static_cast<int64_t>(row), row == 2);
  }
}

}  // namespace
}  // namespace partwise::metrics
