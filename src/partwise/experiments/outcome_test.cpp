#include "partwise/experiments/outcome.h"

#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::experiments {
namespace {

FinishedCell cell(const std::string& category, int64_t seed, double purity) {
  findings::RunFindings found;
  found.layers.resize(2);
  found.layers.front().findings["purity"] = {.value = purity,
                                             .low = purity - 0.1,
                                             .high = purity + 0.1,
                                             .controls = {{"uniform_map", 0.25}}};
  return {{"vgg-16", "masked", category, "logistic", seed}, found};
}

TEST(Outcome, OfOneSeedHasItsOwnInterval) {
  const std::vector<FinishedCell> cells{cell("cat", 1, 0.5)};
  const auto lines = compare_with_paper(find_table("voc-purity"), cells);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].paper, 0.373);
  EXPECT_EQ(lines[0].value, 0.5);
  EXPECT_EQ(lines[0].low, 0.4);
  EXPECT_EQ(lines[0].controls.at("uniform_map"), 0.25);
}

TEST(Outcome, OfSeveralSeedsHasTheIntervalBetweenThem) {
  const std::vector<FinishedCell> cells{cell("cat", 1, 0.4), cell("cat", 2, 0.5),
                                        cell("cat", 3, 0.6)};
  const auto lines = compare_with_paper(find_table("voc-purity"), cells);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].seeds, 3);
  EXPECT_NEAR(lines[0].value, 0.5, 1e-12);
  EXPECT_NEAR(lines[0].high, 0.5 + metrics::student_t(2) * 0.1 / std::sqrt(3.0), 1e-9);
}

TEST(Outcome, OfSeveralCategoriesEndsWithTheirMeanBesideThePapersOverTheSame) {
  const std::vector<FinishedCell> cells{cell("cat", 1, 0.4), cell("dog", 1, 0.6),
                                        cell("cat", 2, 0.9)};  // seed 2 lacks the dog
  const auto lines = compare_with_paper(find_table("voc-purity"), cells);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[2].categories, 2);
  EXPECT_EQ(lines[2].seeds, 1);
  EXPECT_NEAR(lines[2].value, 0.5, 1e-12);
  EXPECT_NEAR(*lines[2].paper, (0.373 + 0.435) / 2.0, 1e-12);
  EXPECT_TRUE(std::isnan(lines[2].low));
  const auto text = outcome_markdown(find_table("voc-purity"), lines, {"A note."});
  EXPECT_NE(text.find("| mean of 2 | purity | 0.404 | 0.500 | – | 1 | 0.250 |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("A note."), std::string::npos);
  const auto json = outcome_json(find_table("voc-purity"), lines, {});
  EXPECT_EQ(json.at("rows")[2].at("mean_of"), 2);
  EXPECT_TRUE(json.at("rows")[2].at("low").is_null());
}

TEST(Outcome, LeavesOutWhatWasNotMeasuredAndFiguresThePaperLacks) {
  EXPECT_TRUE(compare_with_paper(find_table("cub200-adversarial"),
                                 std::vector<FinishedCell>{cell("bird", 1, 0.4)})
                  .empty());
  const auto other = compare_with_paper(find_table("voc-purity"),
                                        std::vector<FinishedCell>{cell("unicorn", 1, 0.4)});
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].paper, std::nullopt);
}

}  // namespace
}  // namespace partwise::experiments
