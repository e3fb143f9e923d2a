#include "partwise/atlas/filter_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace partwise::atlas {
namespace {

// Rows 0 to 9 of category 0 with falling peaks, the last two silent; 10 to 13 of others.
const std::vector<float> kPeaks{10, 9, 8, 7, 6, 5, 4, 3, 0, 0, 12, 2, 0, 1};
const std::vector<int64_t> kCategory{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1, -1};

TEST(Bands, RunFromTheStrongestToTheLastThatFire) {
  const auto bands = bands_of({kPeaks, kCategory, 0}, 2);
  EXPECT_EQ(bands.strongest, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(bands.middle, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(bands.weak, (std::vector<int64_t>{6, 7}));
}

TEST(Bands, HoldTheStrongestWrongImagesFirst) {
  EXPECT_EQ(bands_of({kPeaks, kCategory, 0}, 2).wrong, (std::vector<int64_t>{10, 11}));
  EXPECT_EQ(bands_of({kPeaks, kCategory, 0}, 9).wrong, (std::vector<int64_t>{10, 11, 13}));
}

TEST(Bands, ShareNoRowHoweverFewThereAre) {
  for (int64_t count = 1; count < 8; ++count) {
    const auto bands = bands_of({kPeaks, kCategory, 0}, count);
    std::multiset<int64_t> all(bands.strongest.begin(), bands.strongest.end());
    all.insert(bands.middle.begin(), bands.middle.end());
    all.insert(bands.weak.begin(), bands.weak.end());
    EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), all.size()) << count;
  }
}

TEST(Bands, OfAFilterThatNeverFiresAreEmpty) {
  const std::vector<float> silent(kCategory.size(), 0.0F);
  const auto bands = bands_of({silent, kCategory, 0}, 3);
  EXPECT_TRUE(bands.strongest.empty() && bands.middle.empty() && bands.weak.empty() &&
              bands.wrong.empty());
  EXPECT_EQ(strongest_row({silent, kCategory, 0}), -1);
}

TEST(StrongestRow, IsOfItsOwnCategoryWhereItFiresThere) {
  EXPECT_EQ(strongest_row({kPeaks, kCategory, 0}), 0);
  EXPECT_EQ(strongest_row({kPeaks, kCategory, 5}), 10);
  EXPECT_EQ(strongest_row({kPeaks, kCategory, -1}), 10);
}

TEST(Histogram, CountsEveryRowOnce) {
  auto peaks = kPeaks;
  peaks[9] = -std::numeric_limits<float>::infinity();  // a map of nothing but NaN
  peaks[8] = std::nanf("");
  const auto histogram = histogram_of({peaks, kCategory, 0}, 6);
  EXPECT_EQ(histogram.edges.size(), 7U);
  EXPECT_DOUBLE_EQ(histogram.edges.back(), 12.0);
  const auto sum = [](const std::vector<int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  };
  EXPECT_EQ(sum(histogram.own), 10);
  EXPECT_EQ(sum(histogram.others), 4);
  EXPECT_EQ(histogram.own.front(), 2);
  EXPECT_EQ(histogram.others.back(), 1);
}

TEST(Histogram, OfAFilterThatNeverFiresIsOneBin) {
  const std::vector<float> silent(kCategory.size(), 0.0F);
  const auto histogram = histogram_of({silent, kCategory, 0}, 4);
  EXPECT_EQ(histogram.own.front(), 10);
  EXPECT_EQ(histogram.others.front(), 4);
}

}  // namespace
}  // namespace partwise::atlas
