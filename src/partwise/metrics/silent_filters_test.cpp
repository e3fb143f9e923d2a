#include "partwise/metrics/silent_filters.h"

#include "partwise/metrics/served_categories.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

// Maps of a single cell: peaks [row][filter].
MapSummaries of_peaks(const std::vector<std::vector<float>>& peaks) {
  std::vector<float> values;
  for (const auto& row : peaks) values.insert(values.end(), row.begin(), row.end());
  return summarise(Maps{values, std::ssize(peaks), static_cast<int64_t>(peaks.front().size()), 1},
                   1);
}

// 13 rows: the strongest sixth are two. Eight filters: a strong one's loudness is the mean of the
// two strongest, (10 + 6) / 2 = 8, and silent is what lies below 0.4.
TEST(SilentFilters, EqualTheWorkedExample) {
  std::vector<std::vector<float>> peaks(13, std::vector<float>(8));
  const std::vector<float> loud{10.0F, 6.0F, 3.0F, 1.0F, 0.5F, 0.375F, 0.25F, 0.0F};
  for (std::size_t f = 0; f < 8; ++f) peaks[3][f] = peaks[7][f] = loud[f];
  peaks[3][2] = 4.0F;  // its loudness stays 3
  peaks[7][2] = 2.0F;
  const auto found = silent_filters(of_peaks(peaks), {.resamples = 100});
  const std::vector<double> loudness{10.0, 6.0, 3.0, 1.0, 0.5, 0.375, 0.25, 0.0};
  EXPECT_EQ(found.loudness, loudness);
  EXPECT_EQ(found.silent_share.value, 3.0 / 8.0);
  EXPECT_LE(found.silent_share.low, 3.0 / 8.0);
  EXPECT_GE(found.silent_share.high, 3.0 / 8.0);
  double sum = 0.0;
  double squares = 0.0;
  for (const double one : loudness) {
    sum += one;
    squares += one * one;
  }
  EXPECT_DOUBLE_EQ(found.effective_filters.value, sum * sum / squares);
  EXPECT_TRUE(found.effective_filters.controls.empty());  // all of them is a bound, no control
}

// A filter that fires on one row of twelve alone is loud on half of its strongest sixth.
TEST(SilentFilters, AreJudgedByTheirStrongestSixthOfTheRows) {
  std::vector<std::vector<float>> peaks(12, {1.0F, 0.0F});
  peaks[5][1] = 0.09F;
  EXPECT_EQ(silent_filters(of_peaks(peaks), {.resamples = 10}).silent_share.value, 0.5);
  peaks[5][1] = 0.11F;
  EXPECT_EQ(silent_filters(of_peaks(peaks), {.resamples = 10}).silent_share.value, 0.0);
}

TEST(SilentFilters, DoNotDependOnACommonScale) {
  std::vector<std::vector<float>> peaks;
  for (int64_t row = 0; row < 20; ++row) {
    auto& here = peaks.emplace_back();
    for (int64_t f = 0; f < 12; ++f)
      here.push_back(static_cast<float>((row * 7 + f * 5) % 11) / static_cast<float>(1 << f));
  }
  const auto plain = silent_filters(of_peaks(peaks), {.resamples = 50});
  EXPECT_GT(plain.silent_share.value, 0.0);
  EXPECT_LT(plain.silent_share.value, 1.0);
  for (auto& row : peaks) {
    for (auto& peak : row) peak *= 0.0009765625F;
  }
  const auto scaled = silent_filters(of_peaks(peaks), {.resamples = 50});
  EXPECT_EQ(scaled.silent_share.value, plain.silent_share.value);
  EXPECT_EQ(scaled.silent_share.low, plain.silent_share.low);
  EXPECT_EQ(scaled.effective_filters.value, plain.effective_filters.value);
}

TEST(SilentFilters, AreAllWhereNothingFiresAndNoneWhereAllAreEqual) {
  const auto dead = silent_filters(of_peaks({{0.0F, 0.0F}, {0.0F, 0.0F}}), {.resamples = 10});
  EXPECT_EQ(dead.silent_share.value, 1.0);
  EXPECT_EQ(dead.effective_filters.value, 0.0);
  const auto equal = silent_filters(of_peaks({{2.0F, 2.0F, 2.0F}}), {.resamples = 10});
  EXPECT_EQ(equal.silent_share.value, 0.0);
  EXPECT_DOUBLE_EQ(equal.effective_filters.value, 3.0);
  const auto single = silent_filters(of_peaks({{1e-9F}}), {.resamples = 10});
  EXPECT_EQ(single.silent_share.value, 0.0);
  EXPECT_DOUBLE_EQ(single.effective_filters.value, 1.0);
}

// Where fewer than an eighth fire, a strong filter's loudness is 0; those that do not fire are
// silent.
TEST(SilentFilters, CountThoseThatDoNotFireWhateverAStrongOneDoes) {
  std::vector<float> row(16);
  row[4] = 1.0F;
  const auto found = silent_filters(of_peaks({row}), {.resamples = 10});
  EXPECT_EQ(found.silent_share.value, 15.0 / 16.0);
}

TEST(SilentFilters, DoNotDependOnTheThreads) {
  std::vector<std::vector<float>> peaks;
  for (int64_t row = 0; row < 30; ++row) {
    auto& here = peaks.emplace_back();
    for (int64_t f = 0; f < 9; ++f) here.push_back(static_cast<float>((row * 13 + f * f) % 17));
  }
  const auto one = silent_filters(of_peaks(peaks), {.resamples = 60, .threads = 1});
  const auto three = silent_filters(of_peaks(peaks), {.resamples = 60, .threads = 3});
  EXPECT_EQ(one.effective_filters.low, three.effective_filters.low);
  EXPECT_EQ(one.silent_share.draws.own, three.silent_share.draws.own);
  EXPECT_EQ(one.silent_share.draws.partner, three.silent_share.draws.partner);
}

// Six filters, three categories: two each would be fair. The fourth never fires.
// A strong one is the median of the two strongest of eight: 3.
TEST(SilentLevel, IsATwentiethOfAStrongOne) {
  EXPECT_DOUBLE_EQ(silent_level({1.0, 4.0, 0.0, 2.0, 1.0, 1.0, 2.0, 0.0}), 0.15);
  EXPECT_EQ(silent_level({}), 0.0);
}

TEST(SmallestCategoryShare, EqualsTheWorkedExample) {
  const auto maps = of_peaks({{1.0F, 1.0F, 1.0F, 0.0F, 1.0F, 1.0F}});
  const std::vector<std::string> names{"cat", "dog", "fox"};
  const auto found = smallest_category_share(maps, std::vector<int64_t>{0, 0, 0, 1, 2, 1}, names,
                                             {.resamples = 50});
  EXPECT_DOUBLE_EQ(found.value, 0.5);
  EXPECT_EQ(found.facts.at("category"), "dog");
  EXPECT_TRUE(found.facts.at("unserved").empty());
  EXPECT_GT(found.controls.at("random_categories"), 0.2);
  EXPECT_LT(found.controls.at("random_categories"), 0.7);
  const auto none = smallest_category_share(maps, std::vector<int64_t>{0, 0, 0, 1, 2, 2}, names,
                                            {.resamples = 50});
  EXPECT_EQ(none.value, 0.0);
  EXPECT_EQ(none.facts.at("unserved"), nlohmann::json{"dog"});
}

TEST(SmallestCategoryShare, ServesACategoryFromAThirdOfItsFairShare) {
  const auto maps = of_peaks({std::vector<float>(9, 1.0F)});
  const std::vector<std::string> names{"cat", "dog", "fox"};
  const auto found = smallest_category_share(maps, std::vector<int64_t>{0, 0, 0, 0, 1, 1, 1, 1, 2},
                                             names, {.resamples = 50});
  EXPECT_EQ(found.value, 1.0 / 3.0);
  EXPECT_TRUE(found.facts.at("unserved").empty());
}

TEST(SmallestCategoryShare, DoesNotExistForOneCategory) {
  const std::vector<std::string> names{"cat"};
  EXPECT_TRUE(std::isnan(
      smallest_category_share(of_peaks({{1.0F}}), std::vector<int64_t>{0}, names, {.resamples = 10})
          .value));
}

}  // namespace
}  // namespace partwise::metrics
