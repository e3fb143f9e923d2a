#include "partwise/metrics/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

// Three classes, five rows: right, right, wrong (class 1 shown, 0 said), tie between 0 and 1 (0 is
// said, right), NaN beside a low score (class 2 is said, right).
const std::vector<float> kScores{9, 1, 0, 8, 1, 1, 5, 4, 0, 3, 3, 1, NAN, NAN, -7};
const std::vector<int64_t> kLabels{0, 0, 1, 0, 2};

TEST(Accuracy, IsTheShareOfRightRows) {
  const auto finding = accuracy(kScores, 3, kLabels, {});
  EXPECT_DOUBLE_EQ(finding.value, 4.0 / 5.0);
  EXPECT_DOUBLE_EQ(finding.controls.at("majority_class"), 3.0 / 5.0);
  EXPECT_DOUBLE_EQ(finding.controls.at("chance"), 1.0 / 3.0);
  EXPECT_EQ(finding.controls.size(), 2U);
  EXPECT_LE(finding.low, finding.value);
  EXPECT_GE(finding.high, finding.value);
}

// Recalls 3/3, 0/1, 1/1.
TEST(BalancedAccuracy, IsTheMeanOfTheClassesPresent) {
  EXPECT_DOUBLE_EQ(balanced_accuracy(kScores, 3, kLabels, {}).value, 2.0 / 3.0);
  const std::vector<float> two_rows{9, 1, 0, 1, 9, 0};
  const std::vector<int64_t> labels{0, 0};
  EXPECT_DOUBLE_EQ(balanced_accuracy(two_rows, 3, labels, {}).value, 0.5);
}

// Exact binomial: 80 of 100 right, 95 % central range of Binomial(100, 0.8) / 100 is [0.72, 0.88].
TEST(Accuracy, HasTheBinomialInterval) {
  std::vector<float> scores;
  const std::vector<int64_t> labels(100, 0);
  for (int row = 0; row < 100; ++row) {
    scores.push_back(row < 80 ? 1.0F : 0.0F);
    scores.push_back(0.5F);
  }
  const auto finding = accuracy(scores, 2, labels, {.resamples = 4000});
  EXPECT_NEAR(finding.low, 0.72, 0.0101);  // the next order statistic is one row away
  EXPECT_NEAR(finding.high, 0.88, 0.0101);
}

TEST(BalancedAccuracy, OfAConstantAnswerIsChance) {
  std::vector<float> scores;
  std::vector<int64_t> labels;
  for (int64_t row = 0; row < 90; ++row) {
    scores.insert(scores.end(), {1.0F, 0.0F, 0.0F});
    labels.push_back(row < 80 ? 0 : 1 + row % 2);
  }
  const auto finding = balanced_accuracy(scores, 3, labels, {});
  EXPECT_DOUBLE_EQ(finding.value, finding.controls.at("chance"));
  EXPECT_NEAR(accuracy(scores, 3, labels, {}).value, 80.0 / 90.0, 1e-15);
}

TEST(Accuracy, WithoutRowsDoesNotExist) {
  const auto finding = accuracy({}, 3, {}, {});
  EXPECT_TRUE(std::isnan(finding.value));
  EXPECT_TRUE(std::isnan(finding.low));
  EXPECT_TRUE(std::isnan(finding.controls.at("majority_class")));
}

TEST(Accuracy, RejectsAnUnknownLabel) {
  const std::vector<float> scores{1, 0};
  const std::vector<int64_t> labels{2};
  EXPECT_THROW(accuracy(scores, 2, labels, {}), std::logic_error);
}

TEST(Accuracy, DoesNotDependOnThreads) {
  const auto one = balanced_accuracy(kScores, 3, kLabels, {.threads = 1});
  const auto four = balanced_accuracy(kScores, 3, kLabels, {.threads = 4});
  EXPECT_EQ(one.low, four.low);
  EXPECT_EQ(one.high, four.high);
}

TEST(OutputAccuracy, CountsEveryOutputsAnswerAndSaysWhatNoToAllScores) {
  // Row 0 (category 0): yes, no; row 1 (category 1): yes, yes; row 2 (none): no, no.
  const std::vector<float> logits{1.0F, -1.0F, 2.0F, 3.0F, -1.0F, 0.0F};
  const std::vector<int64_t> labels{0, 1, -1};
  const auto found = output_accuracy(logits, 2, labels, {.resamples = 50});
  EXPECT_NEAR(found.value, 5.0 / 6.0, 1e-12);
  EXPECT_NEAR(found.controls.at("always_no"), 4.0 / 6.0, 1e-12);
  EXPECT_LE(found.low, found.value);
  EXPECT_GE(found.high, found.value);
}

}  // namespace
}  // namespace partwise::metrics
