#include "partwise/metrics/score_cuts.h"

#include "partwise/base/random.h"
#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace partwise::metrics {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// Scores 5 3 3 2 1 0 with positives at 5, one 3, 2: the cuts call none, {5}, {5 3 3}, {.. 2}, all
// but 0, all positive.
//   right of 6:      3, 4, 4, 5, 4, 3          (three positives, three negatives)
// Pairs: 5 beats 3, 1, 0; the 3 ties with 3 and beats 1, 0; 2 beats 1, 0: 3 + 2.5 + 2 of 9.
const std::vector<float> kScores{3, 5, 0, 3, 1, 2};
const std::vector<uint8_t> kPositive{0, 1, 0, 1, 0, 1};
const std::vector<int32_t> kOnce(6, 1);

TEST(ScoreCuts, EqualTheWorkedExample) {
  const ScoreCuts cuts(kScores, kPositive);
  EXPECT_DOUBLE_EQ(cuts.numbers(kOnce, kNaN).best_accuracy, 5.0 / 6.0);
  EXPECT_EQ(cuts.balanced_threshold(), 1.0);
  EXPECT_DOUBLE_EQ(cuts.numbers(kOnce, kNaN).auc, 7.5 / 9.0);
  EXPECT_DOUBLE_EQ(right_at(1.0, kScores, kPositive, kOnce).share, 5.0 / 6.0);
  EXPECT_DOUBLE_EQ(right_at(2.0, kScores, kPositive, kOnce).balanced, (2.0 / 3 + 2.0 / 3) / 2);
}

// The 0 counted four times: {.. 2} has 3 + 1 + 4 right of 9.
TEST(ScoreCuts, CountRowsAsOftenAsTheyWereDrawn) {
  const std::vector<int32_t> counts{1, 1, 4, 1, 1, 1};
  const ScoreCuts cuts(kScores, kPositive);
  EXPECT_DOUBLE_EQ(cuts.numbers(counts, kNaN).best_accuracy, 8.0 / 9.0);
  EXPECT_DOUBLE_EQ(cuts.numbers(counts, kNaN).auc, (3 + 2.5 + 2 + 9) / 18.0);
}

TEST(ScoreCuts, OfADeadFilterSayTheMajority) {
  const std::vector<float> dead(6, 0.0F);
  const std::vector<uint8_t> few{1, 0, 0, 0, 0, 0};
  const ScoreCuts cuts(dead, few);
  EXPECT_DOUBLE_EQ(cuts.numbers(kOnce, kNaN).best_accuracy, 5.0 / 6.0);
  EXPECT_EQ(cuts.numbers(kOnce, kNaN).auc, 0.5);
  EXPECT_EQ(cuts.balanced_threshold(), 0.0);
  EXPECT_EQ(right_at(0.0, dead, few, kOnce).balanced, 0.5);
}

// Both rows are positive, but a map of NaN cannot be called so.
TEST(ScoreCuts, NeverCallNaNPositive) {
  const std::vector<float> scores{1, kLowest};
  const std::vector<int32_t> once(2, 1);
  const ScoreCuts cuts(scores, std::vector<uint8_t>{1, 1});
  EXPECT_EQ(cuts.numbers(once, kNaN).best_accuracy, 0.5);
  EXPECT_TRUE(std::isnan(cuts.numbers(once, kNaN).auc));
  EXPECT_TRUE(std::isnan(cuts.balanced_threshold()));
  EXPECT_TRUE(std::isnan(ScoreCuts({}, {}).numbers({}, kNaN).best_accuracy));
}

TEST(ScoreCuts, AgreeWithTryingEveryThresholdAndPair) {
  Random random(6);
  for (int trial = 0; trial < 200; ++trial) {
    const auto rows = static_cast<std::size_t>(1 + random.below(12));
    std::vector<float> scores(rows);
    std::vector<uint8_t> positive(rows);
    std::vector<int32_t> counts(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      scores[row] = random.chance(0.1) ? kLowest : static_cast<float>(random.below(4));
      positive[row] = random.chance(0.5) ? 1 : 0;
      counts[row] = static_cast<int32_t>(random.below(3));
    }
    double best = kNaN;
    for (const double t : {-1.0, 0.0, 1.0, 2.0, 3.0})
      best = std::fmax(best, right_at(t, scores, positive, counts).share);
    double won = 0.0;
    double pairs = 0.0;
    for (std::size_t a = 0; a < rows; ++a) {
      for (std::size_t b = 0; b < rows; ++b) {
        if (positive[a] == 0 || positive[b] != 0) continue;
        pairs += counts[a] * counts[b];
        if (scores[a] >= scores[b]) won += counts[a] * counts[b] * (scores[a] > scores[b] ? 1 : .5);
      }
    }
    const ScoreCuts cuts(scores, positive);
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    for (const double t : {kNaN, static_cast<double>(kLowest), 0.0, 1.5, 3.0}) {
      const auto found = cuts.numbers(counts, t);
      const auto right = right_at(t, scores, positive, counts);
      EXPECT_TRUE(same(found.best_accuracy, best)) << found.best_accuracy << best;
      EXPECT_TRUE(same(found.auc, quotient(won, pairs)));
      EXPECT_TRUE(same(found.accuracy, right.share));
      EXPECT_TRUE(same(found.balanced, right.balanced));
    }
  }
}

}  // namespace
}  // namespace partwise::metrics
