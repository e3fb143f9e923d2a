#include "partwise/parts/filter_push.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::parts {
namespace {

// Next to no filter loss.
PartOptions with_vote_and_lift(double vote, double keep_alive) {
  PartOptions options;
  options.strength = 1e-9;
  options.assignment = Assignment::absolute;
  options.vote = vote;
  options.keep_alive = keep_alive;
  return options;
}

// What reaches the values before the ReLU, beyond the task's own gradient.
Tensor push_before_relu(const PartOptions& options, const Tensor& values, const Tensor& category) {
  Interpretable layer(values.size(1), values.size(2), 2, options);
  const auto run = [&](bool learn) {
    const auto leaf = values.clone().requires_grad_();
    const auto before = leaf * 1.0;
    const auto maps = torch::relu(before);
    const auto output = learn ? layer->mask_and_learn(maps, category, {before}) : layer->mask(maps);
    (output * output).sum().backward();
    return leaf.grad();
  };
  const auto with = run(true);
  return with - run(false);
}

TEST(FilterPush, RaisesTheStrongestCellOfASilentMapByTheVoteThroughTheClosedRelu) {
  const auto options = with_vote_and_lift(1.0, 0.0);
  auto values = -torch::ones({4, 2, 6, 6});
  values.slice(0, 0, 2).select(1, 0) += 2.0;  // filter 0 fires for category 0
  values.slice(0, 2, 4).select(1, 1) += 2.0;  // filter 1 for category 1,
  values[3][1] -= 2.0;                        // but is silent on the last image,
  values[3][1][2][4] = -0.5;                  // nearest to firing here
  const auto category = torch::tensor({0, 0, 1, 1}, torch::kInt64);
  const auto push = push_before_relu(options, values, category);
  EXPECT_LT(push[3][1][2][4].item<double>(), -1e-3);
  const auto closed = (values <= 0).to(torch::kFloat32) * push;
  EXPECT_EQ((closed != 0).sum().item<int64_t>(), 1);
}

TEST(FilterPush, RaisesAFilterThatFallsSilentAndNoOther) {
  torch::manual_seed(27);
  const auto options = with_vote_and_lift(0.0, 0.5);
  auto values = torch::rand({4, 3, 6, 6});
  values.select(1, 2) *= 0.01;
  const auto category = torch::tensor({0, 0, 1, 1}, torch::kInt64);
  const auto push = push_before_relu(options, values, category).norm(2, {0, 2, 3});
  EXPECT_LT(push[0].item<double>(), 1e-6);
  EXPECT_LT(push[1].item<double>(), 1e-6);
  EXPECT_GT(push[2].item<double>(), 0.1);
}

// A push of 1 in 1000 of the gradient is below bfloat16's last digit (1 in 256).
TEST(FilterPush, IsNotRoundedAwayInBfloat16) {
  torch::manual_seed(28);
  const auto exact = torch::full({1 << 16}, 1.001F);
  const auto usual = exact.to(torch::kBFloat16).to(torch::kFloat64).mean().item<double>();
  EXPECT_EQ(usual, 1.0);
  const auto rounded = rounded_at_random(exact, torch::kBFloat16);
  EXPECT_EQ(rounded.scalar_type(), torch::kBFloat16);
  // 65536 draws of a step of 1/128 with chance 0.128: a standard error of 1e-5
  EXPECT_NEAR(rounded.to(torch::kFloat64).mean().item<double>(), 1.001, 5e-5);
  const auto odd = torch::tensor({0.0F, -1.001F, INFINITY, -INFINITY, NAN, 1e-40F});
  const auto kept = rounded_at_random(odd, torch::kBFloat16).to(torch::kFloat32);
  EXPECT_EQ(kept[0].item<float>(), 0.0F);
  EXPECT_LE(kept[1].item<float>(), -1.0F);
  EXPECT_EQ(kept[2].item<float>(), INFINITY);
  EXPECT_EQ(kept[3].item<float>(), -INFINITY);
  EXPECT_TRUE(std::isnan(kept[4].item<float>()));
}

}  // namespace
}  // namespace partwise::parts
