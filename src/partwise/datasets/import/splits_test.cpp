#include "partwise/datasets/import/splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace partwise::datasets {
namespace {

std::vector<SplitEntry> entries_of(int64_t count, int64_t stratum, int64_t first_id) {
  std::vector<SplitEntry> entries;
  for (int64_t i = 0; i < count; ++i) {
    entries.push_back({first_id + i, stratum, std::to_string(first_id + i), std::nullopt, ""});
  }
  return entries;
}

TEST(ReleaseTraining, IsRoundedLinspace) {
  // MATLAB: round(linspace(1, 10, 9)) = 1 2 3 4 6 7 8 9 10 (the middle one is 5.5)
  EXPECT_EQ(release_training(10), (std::vector<int64_t>{0, 1, 2, 3, 5, 6, 7, 8, 9}));
  EXPECT_EQ(release_training(1), std::vector<int64_t>{0});
  EXPECT_TRUE(release_training(0).empty());
  const auto fox = release_training(286);
  EXPECT_EQ(fox.size(), 257U);
  EXPECT_EQ(std::set(fox.begin(), fox.end()).size(), 257U);
  EXPECT_EQ(fox.back(), 285);
}

TEST(PaperSplits, CountImagesThatCouldNotBeUsed) {
  auto entries = entries_of(10, 1, 1);
  entries[0].image_id = 0;
  const auto splits = paper_splits(entries);
  EXPECT_EQ(splits.at("test"), std::vector<int64_t>{5});  // as if the first were there
  EXPECT_EQ(splits.at("train").size(), 8U);
}

TEST(PaperSplits, FollowTheOriginalsOwnSplit) {
  auto entries = entries_of(10, 1, 1);
  for (auto& entry : entries) entry.official_train = entry.image_id <= 3;
  EXPECT_EQ(paper_splits(entries).at("train"), (std::vector<int64_t>{1, 2, 3}));
}

TEST(CleanSplits, KeepEveryStratumsShare) {
  auto entries = entries_of(40, 1, 1);
  const auto others = entries_of(3, 2, 101);
  entries.insert(entries.end(), others.begin(), others.end());
  const auto splits = clean_splits(entries, 0.2, 1);
  const auto& test = splits.at("test");
  EXPECT_EQ(std::count_if(test.begin(), test.end(), [](auto id) { return id < 100; }), 8);
  EXPECT_EQ(std::count_if(test.begin(), test.end(), [](auto id) { return id > 100; }), 1);
  EXPECT_EQ(splits.at("train").size() + test.size(), 43U);
}

TEST(CleanSplits, KeepEqualContentTogether) {
  auto entries = entries_of(30, 1, 1);
  const auto others = entries_of(30, 2, 31);
  entries.insert(entries.end(), others.begin(), others.end());
  for (std::size_t i = 0; i < 30; ++i) entries[30 + i].content = entries[i].content;
  for (int64_t seed = 0; seed < 5; ++seed) {
    const auto splits = clean_splits(entries, 0.3, seed);
    const std::set test(splits.at("test").begin(), splits.at("test").end());
    for (int64_t id = 1; id <= 30; ++id) EXPECT_EQ(test.count(id), test.count(id + 30));
    EXPECT_FALSE(test.empty());
  }
}

TEST(CleanSplits, DependOnTheSeed) {
  const auto entries = entries_of(100, 1, 1);
  EXPECT_EQ(clean_splits(entries, 0.2, 1), clean_splits(entries, 0.2, 1));
  EXPECT_NE(clean_splits(entries, 0.2, 1), clean_splits(entries, 0.2, 2));
}

TEST(OwnSplits, AreCleanOnesWhereTheOriginalHasNone) {
  const auto entries = entries_of(50, 1, 1);
  EXPECT_EQ(own_splits(entries, 0.2, 1), clean_splits(entries, 0.2, 1));
}

}  // namespace
}  // namespace partwise::datasets
