#include "partwise/parts/vote.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::parts {
namespace {

const auto kScale = torch::scalar_tensor(0.7, torch::kFloat64);

TEST(Vote, HasTheGradientOfItsLoss) {
  torch::manual_seed(1);
  const auto tops = (torch::rand({6, 5}, torch::kFloat64) * 3.0).requires_grad_();
  const auto filter_category = torch::tensor({0, 1, 2, 0, 1}, torch::kInt64);
  const auto category = torch::tensor({0, 1, 2, 2, 0, -1}, torch::kInt64);
  const auto result = vote(tops.detach(), filter_category, category, 3, kScale, 6);
  const auto loudness = (tops / kScale).clamp_max(1.5);
  const auto of = [&](int64_t c) {
    const auto member = filter_category.eq(c).to(torch::kFloat64);
    return 8.0 * (loudness * member).sum(1) / member.sum();
  };
  const auto share = torch::stack({of(0), of(1), of(2)}, 1).log_softmax(1).slice(0, 0, 5);
  const auto loss = -share.gather(1, category.slice(0, 0, 5).unsqueeze(1)).sum() / 6.0;
  loss.backward();
  EXPECT_NEAR(result.loss.item<double>(), loss.item<double>(), 1e-12);
  EXPECT_LT((result.gradient - tops.grad()).abs().max().item<double>(), 1e-12);
  EXPECT_EQ(result.gradient[5].abs().max().item<double>(), 0.0);  // of no category
}

TEST(Vote, OfACategoryWithoutFiltersIsNone) {
  const auto tops = torch::ones({2, 2}, torch::kFloat64);
  const auto category = torch::tensor({0, 1}, torch::kInt64);
  const auto result = vote(tops, torch::zeros({2}, torch::kInt64), category, 2, kScale, 2);
  EXPECT_TRUE(result.loss.isfinite().item<bool>());
  EXPECT_TRUE(result.gradient.isfinite().all().item<bool>());
}

}  // namespace
}  // namespace partwise::parts
