#include "partwise/explaining/additive.h"

#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace partwise::explaining {
namespace {

class Additive : public testing::Test {
 protected:
  Additive() {
    torch::manual_seed(3);
    activity_ = torch::rand({400, 12}) * torch::linspace(0.1, 20.0, 12);
    weights_ = torch::randn({12, 3}) / torch::linspace(0.1, 20.0, 12).unsqueeze(1);
  }
  ~Additive() override { remove_folder(folder_); }

  double missed(const AdditiveExplainer& explainer, const Tensor& answers) {
    const auto gap = (explainer.answers(activity_) - answers).square().mean();
    return (gap / answers.var()).item<double>();
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("partwise-additive-test-{}", ::getpid());
  Tensor activity_;
  Tensor weights_;
};

TEST_F(Additive, FindsTheCoefficientsOfALinearAnswer) {
  const auto answers = torch::matmul(activity_, weights_) + 0.7;
  const auto costs = weights_ * activity_.mean(0).unsqueeze(1);  // what silencing really costs
  const auto explainer = AdditiveExplainer::distil(activity_, answers, costs);
  EXPECT_LT(missed(explainer, answers), 1e-3);
  const auto found = explainer.contributions(activity_).mean(0);
  EXPECT_LT(((found - costs).abs().max() / costs.abs().max()).item<double>(), 0.05);
}

TEST_F(Additive, ItsContributionsAndBiasAreItsAnswer) {
  const auto answers = torch::matmul(activity_, weights_).sin() * 3.0;
  const auto explainer = AdditiveExplainer::distil(activity_, answers, weights_);
  const auto none = explainer.answers(torch::zeros({1, 12}));  // the bias alone
  const auto sum = explainer.contributions(activity_).sum(1) + none;
  EXPECT_TRUE(torch::allclose(sum, explainer.answers(activity_), 1e-4, 1e-4));
}

TEST_F(Additive, FollowsAnswersThatAreNoSumBetterThanFixedCoefficientsDo) {
  const auto answers =
      torch::matmul(activity_, weights_) * (activity_.select(1, 11) > 10.0).unsqueeze(1);
  AdditiveOptions fixed;
  fixed.prior = 1e6;
  const auto costs = weights_ * activity_.mean(0).unsqueeze(1);
  const auto stiff = AdditiveExplainer::distil(activity_, answers, costs, fixed);
  const auto loose = AdditiveExplainer::distil(activity_, answers, costs);
  EXPECT_LT(missed(loose, answers), 0.5 * missed(stiff, answers));
}

TEST_F(Additive, IsTheSameAgainFromItsFile) {
  const auto explainer =
      AdditiveExplainer::distil(activity_, torch::matmul(activity_, weights_), weights_);
  const auto run = runs::RunFolder::create(folder_, {{"a", 1}}, {{"b", 2}});
  EXPECT_FALSE(AdditiveExplainer::load(run, 12, 3).has_value());
  explainer.save(run);
  const auto again = AdditiveExplainer::load(run, 12, 3);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(torch::equal(again->answers(activity_), explainer.answers(activity_)));
  EXPECT_EQ(again->hash(), explainer.hash());
  EXPECT_THROW(AdditiveExplainer::load(run, 13, 3), Error);
  write_file_atomically(folder_ / "additive.safetensors", "no tensors");
  EXPECT_THROW(AdditiveExplainer::load(run, 12, 3), Error);
}

}  // namespace
}  // namespace partwise::explaining
