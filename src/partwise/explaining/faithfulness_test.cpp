#include "partwise/explaining/faithfulness.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::explaining {
namespace {

using Numbers = std::vector<double>;

// An image whose parts add up: taking part p away lowers class 0 by first[p], class 1 by second[p].
Trial additive(const Numbers& first, const Numbers& second) {
  Trial trial;
  trial.parts = std::ssize(first);
  trial.decided = 0;
  trial.runner_up = 1;
  for (PartSet set = 0; set < PartSet{1} << first.size(); ++set) {
    Numbers scores{10.0, 4.0};
    for (std::size_t p = 0; p < first.size(); ++p) {
      if (((set >> p) & 1U) == 0) continue;
      scores[0] -= first[p];
      scores[1] -= second[p];
    }
    trial.answers[set] = scores;
  }
  return trial;
}

Claim negative(Claim claim) {
  for (auto* numbers : {&claim.decided, &claim.runner_up}) {
    for (double& number : *numbers) number = -number;
  }
  return claim;
}

// Ten images whose parts matter otherwise for the two classes.
struct Planted {
  std::vector<Trial> trials;
  std::vector<Claim> truth;
  std::vector<Claim> opposite;
  std::vector<Claim> class_blind;

  Planted() {
    for (int i = 0; i < 10; ++i) {
      const Numbers first{4.0, 3.0, 0.1 + 0.01 * i, 0.2, 0.0};
      const Numbers second{0.1, 0.2, 3.0, 1.0 + 0.1 * i, 0.5};
      trials.push_back(additive(first, second));
      truth.push_back({first, second});
      opposite.push_back(negative(truth.back()));
      class_blind.push_back({first, first});
    }
  }
};

double score(const std::vector<Trial>& trials,
             const std::vector<Claim>& claims,
             Protocol protocol) {
  return score_method(trials, claims, {.resamples = 10}).scores.at(protocol).value;
}

TEST(RankCorrelation, IsSpearmansWithAveragedTies) {
  EXPECT_DOUBLE_EQ(rank_correlation(Numbers{1, 2, 3}, Numbers{10, 200, 3000}), 1.0);
  EXPECT_DOUBLE_EQ(rank_correlation(Numbers{1, 2, 3}, Numbers{3, 2, 1}), -1.0);
  // SciPy: spearmanr([1, 2, 2, 4], [1, 3, 2, 4]) = 0.9486832980505138
  EXPECT_NEAR(rank_correlation(Numbers{1, 2, 2, 4}, Numbers{1, 3, 2, 4}), 0.9486832980505138,
              1e-12);
}

TEST(RankCorrelation, ExistsWhereThereIsATruthToAgreeWith) {
  EXPECT_TRUE(std::isnan(rank_correlation(Numbers{1, 2}, Numbers{1, 2})));
  EXPECT_TRUE(std::isnan(rank_correlation(Numbers{1, 2, 3}, Numbers{5, 5, 5})));
  EXPECT_EQ(rank_correlation(Numbers{1, 1, 1}, Numbers{1, 2, 3}), 0.0);
}

TEST(TopPart, IsTheMeanOverClaimsThatTie) {
  EXPECT_EQ(top_part_agreement(Numbers{1, 3, 2}, Numbers{0, 5, 4}), 1.0);
  EXPECT_EQ(top_part_agreement(Numbers{1, 2, 3}, Numbers{0, 5, 4}), 0.0);
  EXPECT_EQ(top_part_agreement(Numbers{7, 7, 7, 7}, Numbers{0, 5, 4, 1}), 0.25);
}

TEST(IdleParts, AreThoseWhoseAbsenceMovesTheScoreByLessThanAShareOfIt) {
  // 5 % of 10 is 0.5; a part whose absence raises the score is not idle.
  const auto trial = additive({4.0, 0.49, 0.51, -1.0}, {0, 0, 0, 0});
  EXPECT_EQ(trial.idle(), PartSet{0b0010});
  EXPECT_DOUBLE_EQ(idle_share(Numbers{1, 3, -5, 0}, 0b0010), 0.75);
  EXPECT_TRUE(std::isnan(idle_share(Numbers{1, 3, -5, 0}, 0)));
  EXPECT_TRUE(std::isnan(idle_share(Numbers{-1, -3, -5, 0}, 0b0010)));
}

TEST(ImportantParts, ExceedAShareOfWhatIsPositive) {
  const Numbers claimed{6, 3, 1, -20};
  EXPECT_EQ(important_parts(claimed, 0.02), PartSet{0b0111});
  EXPECT_EQ(important_parts(claimed, 0.1), PartSet{0b0011});
  EXPECT_EQ(important_parts(claimed, 0.5), PartSet{0b0001});
  // A negative total must not make everything important (FunnyBirds does).
  EXPECT_EQ(important_parts(Numbers{-1, -2, -3}, 0.02), PartSet{0});
}

TEST(ChecksOfParts, AreThoseOfASmallCaseByHand) {
  // Class 0 leads by 6. Without parts 0 and 1 it falls behind, without one of them it does not.
  // Parts 2 and 3 are idle.
  const auto trial = additive({4.0, 4.0, 0.1, 0.0}, {0, 0, 0, 0});
  const std::vector<Trial> trials(4, trial);
  const std::vector<Claim> exact(4, {{1.0, 1.0, 0.0, 0.0}, {0, 0, 0, 0}});
  EXPECT_EQ(score(trials, exact, Protocol::preservation), 1.0);
  EXPECT_EQ(score(trials, exact, Protocol::deletion), 1.0);
  EXPECT_EQ(score(trials, exact, Protocol::distractibility), 1.0);
  EXPECT_EQ(score(trials, exact, Protocol::completeness), 1.0);
  // One of the two and an idle part: nothing that matters is found, half of the idle ones are.
  const std::vector<Claim> wrong(4, {{0.0, 0.0, 1.0, 0.0}, {0, 0, 0, 0}});
  EXPECT_EQ(score(trials, wrong, Protocol::preservation), 0.0);
  EXPECT_EQ(score(trials, wrong, Protocol::deletion), 0.0);
  EXPECT_EQ(score(trials, wrong, Protocol::distractibility), 0.5);
  EXPECT_EQ(score(trials, wrong, Protocol::completeness), 0.25);
}

TEST(ChecksOfParts, ChooseTheThresholdOnOneHalfAndCountTheOther) {
  const auto trial = additive({4.0, 4.0, 0.1, 0.0}, {0, 0, 0, 0});
  const std::vector<Trial> trials(6, trial);
  std::vector<Claim> claims;
  for (int i = 0; i < 6; ++i) {
    // In the validation half (even) the idle part claims 0.2 of everything, in the other 0.3.
    claims.push_back(
        {i % 2 == 0 ? Numbers{0.4, 0.4, 0.2, 0.0} : Numbers{0.35, 0.35, 0.3, 0.0}, {0, 0, 0, 0}});
  }
  const auto scores = score_method(trials, claims, {.resamples = 10});
  EXPECT_NEAR(scores.threshold, 0.2, 1e-12);  // the first that leaves the idle part out
  EXPECT_EQ(scores.scores.at(Protocol::distractibility).value, 0.5);
  EXPECT_EQ(scores.scores.at(Protocol::distractibility).facts.at("n"), 3);
}

TEST(PlantedTruth, GivesTheTrueClaimsFullMarks) {
  const Planted planted;
  EXPECT_NEAR(score(planted.trials, planted.truth, Protocol::single_deletion), 1.0, 1e-12);
  EXPECT_NEAR(score(planted.trials, planted.truth, Protocol::pairs), 1.0, 1e-12);
  EXPECT_EQ(score(planted.trials, planted.truth, Protocol::top_part), 1.0);
  EXPECT_EQ(score(planted.trials, planted.truth, Protocol::target_sensitivity), 1.0);
}

TEST(PlantedTruth, GivesTheOppositeNone) {
  const Planted planted;
  EXPECT_NEAR(score(planted.trials, planted.opposite, Protocol::single_deletion), -1.0, 1e-12);
  EXPECT_NEAR(score(planted.trials, planted.opposite, Protocol::pairs), -1.0, 1e-12);
  EXPECT_EQ(score(planted.trials, planted.opposite, Protocol::top_part), 0.0);
  EXPECT_EQ(score(planted.trials, planted.opposite, Protocol::target_sensitivity), 0.0);
}

TEST(PlantedTruth, GivesClaimsBlindForTheClassOneHalf) {
  const Planted planted;
  EXPECT_EQ(score(planted.trials, planted.class_blind, Protocol::target_sensitivity), 0.5);
}

TEST(PlantedTruth, IsAnsweredForEverySetThatAThresholdCanAskFor) {
  const Numbers claimed{0.5, 0.3, 0.2};
  const auto asked = asked_sets(claimed);
  for (const double threshold : important_thresholds()) {
    const auto set = important_parts(claimed, threshold);
    EXPECT_EQ(std::count(asked.begin(), asked.end(), set), 1);
    EXPECT_EQ(std::count(asked.begin(), asked.end(), 0b111U & ~set), 1);
  }
}

}  // namespace
}  // namespace partwise::explaining
