#include "partwise/models/task.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::models {
namespace {

datasets::PartDataset two_categories() {
  datasets::PartDataset dataset;
  dataset.categories = {{10, "fox", {}, {}}, {20, "deer", {}, {}}};
  return dataset;
}

TEST(Task, SoftmaxLossIsTheCrossEntropyByHand) {
  const auto task = make_task("multi", Loss::softmax, two_categories());
  const auto logits = torch::tensor({{1.0, 0.0}, {0.0, 2.0}}, torch::kFloat64);
  const auto loss = task_loss(task, logits, torch::tensor({0, 0}, torch::kInt64));
  const double expected = (std::log(1.0 + std::exp(-1.0)) + std::log(1.0 + std::exp(2.0))) / 2.0;
  EXPECT_NEAR(loss.item<double>(), expected, 1e-12);
}

TEST(Task, LogisticLossSumsOverOutputsAndTakesNegatives) {
  const auto task = make_task("multi", Loss::logistic, two_categories());
  const auto logits = torch::tensor({{1.0, -1.0}, {0.5, 2.0}}, torch::kFloat64);
  const auto loss = task_loss(task, logits, torch::tensor({0, -1}, torch::kInt64));
  const auto cost = [](double margin) { return std::log(1.0 + std::exp(-margin)); };
  EXPECT_NEAR(loss.item<double>(), (cost(1.0) + cost(1.0) + cost(-0.5) + cost(-2.0)) / 2.0, 1e-12);
}

TEST(Task, ABinaryDecisionIsTheSignOfItsLogit) {
  const auto task = make_task("binary:deer", Loss::logistic, two_categories());
  EXPECT_EQ(task.category_ids, std::vector<int64_t>{20});
  const auto scores = decision_scores(task, torch::tensor({{-0.1F}, {0.1F}}));
  EXPECT_TRUE(torch::equal(scores.argmax(1), torch::tensor({0, 1}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(decision_classes(task, torch::tensor({-1, 0}, torch::kInt64)),
                           torch::tensor({0, 1}, torch::kInt64)));
}

// It once took label -1 for a row of the confusion matrix.
TEST(Task, OfSeveralCategoriesWithNegativesCanDecideForNone) {
  auto with_negatives = two_categories();
  with_negatives.images.push_back({1, "a.png", 8, 8});
  const auto task = make_task("multi", Loss::logistic, with_negatives);
  EXPECT_EQ(class_names(task), (std::vector<std::string>{"none of them", "fox", "deer"}));
  const auto scores = decision_scores(task, torch::tensor({{-0.1F, -2.0F}, {-1.0F, 0.5F}}));
  const auto truth = decision_classes(task, torch::tensor({-1, 1}, torch::kInt64));
  EXPECT_TRUE(torch::equal(scores.argmax(1), truth));
  EXPECT_FALSE(make_task("multi", Loss::logistic, two_categories()).may_be_none);
  EXPECT_FALSE(make_task("multi", Loss::softmax, with_negatives).may_be_none);
}

TEST(Task, BalancedByWeightsEveryClassHasTheSameShareOfTheLoss) {
  const auto category = torch::tensor({0, 1, 1, 1}, torch::kInt64);
  const auto softmax = make_task("multi", Loss::softmax, two_categories());
  const auto of_softmax = class_weights(softmax, category).select(1, 1);
  EXPECT_TRUE(torch::allclose(of_softmax, torch::tensor({2.0F, 2.0F / 3.0F})));
  const auto binary = make_task("binary:fox", Loss::logistic, two_categories());
  const auto weights = class_weights(binary, torch::tensor({0, -1, -1, -1}, torch::kInt64));
  EXPECT_TRUE(torch::allclose(weights, torch::tensor({{2.0F / 3.0F, 2.0F}})));
  // The same logit everywhere: one fox weighs as much as three others.
  const auto fox = torch::tensor({0, -1, -1, -1}, torch::kInt64);
  const auto loss = task_loss(binary, torch::full({4, 1}, 0.3F), fox, weights).item<double>();
  const double expected = 0.5 * std::log1p(std::exp(-0.3)) + 0.5 * std::log1p(std::exp(0.3));
  EXPECT_NEAR(loss, expected, 1e-6);
  const auto logits = torch::tensor({{1.0F, 0.0F}, {0.0F, 1.0F}, {0.0F, 1.0F}, {0.0F, 1.0F}});
  EXPECT_NEAR(task_loss(softmax, logits, category, class_weights(softmax, category)).item<double>(),
              std::log1p(std::exp(-1.0)), 1e-6);
}

TEST(Task, ImpossibleOnesAreRefusedWithARemedy) {
  auto lonely = two_categories();
  lonely.categories.pop_back();
  EXPECT_THROW(make_task("multi", Loss::softmax, lonely), Error);
  EXPECT_THROW(make_task("binary:fox", Loss::softmax, two_categories()), Error);
  EXPECT_THROW(make_task("binary:cow", Loss::logistic, two_categories()), Error);
  EXPECT_THROW(make_task("ternary", Loss::softmax, two_categories()), Error);
}

}  // namespace
}  // namespace partwise::models
