#include "partwise/parts/interpretable_layer.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::parts {
namespace {

PartOptions with_strength(double strength) {
  PartOptions options;
  options.strength = strength;
  return options;
}

struct Step {
  Tensor output;
  Tensor gradient;
};

Step step(InterpretableLayer& layer, const Tensor& values, const Tensor& category) {
  const auto leaf = values.clone().requires_grad_();
  const auto maps = torch::relu(leaf);
  const auto output = layer.mask_and_learn(maps, category);
  (output * output).sum().backward();
  return {output.detach(), leaf.grad()};
}

Tensor batch_category() {
  return torch::tensor({0, 0, 1, -1}, torch::kInt64);
}

TEST(InterpretableLayer, WithoutStrengthIsTheMaskAloneBitForBit) {
  torch::manual_seed(1);
  const auto values = torch::randn({4, 3, 6, 6});
  InterpretableLayer layer(3, 6, 2, with_strength(0.0));
  const auto [output, gradient] = step(layer, values, batch_category());
  const auto leaf = values.clone().requires_grad_();
  const auto masked = layer.mask(torch::relu(leaf));
  (masked * masked).sum().backward();
  EXPECT_TRUE(torch::equal(output, masked));
  EXPECT_TRUE(torch::equal(gradient, leaf.grad()));
}

TEST(InterpretableLayer, AddsTheAskedShareOfTheTaskGradientAndNothingInTheForwardPass) {
  torch::manual_seed(2);
  const auto values = torch::randn({4, 3, 6, 6});
  InterpretableLayer plain(3, 6, 2, with_strength(0.0));
  InterpretableLayer learning(3, 6, 2, with_strength(0.05));
  const auto without = step(plain, values, batch_category());
  const auto with = step(learning, values, batch_category());
  EXPECT_TRUE(torch::equal(with.output, without.output));
  const auto added = with.gradient - without.gradient;
  EXPECT_NEAR((added.norm() / without.gradient.norm()).item<double>(), 0.05, 1e-5);  // float32
  EXPECT_NEAR(learning.take_diagnostics().gradient_ratio, 0.05, 1e-5);
}

TEST(InterpretableLayer, LetsNoFilterGradientThroughAClosedRelu) {
  torch::manual_seed(3);
  const auto values = torch::randn({4, 3, 6, 6});
  InterpretableLayer layer(3, 6, 2, with_strength(0.5));
  const auto gradient = step(layer, values, batch_category()).gradient;
  EXPECT_EQ(gradient.masked_select(values <= 0).abs().sum().item<float>(), 0.0F);
}

TEST(InterpretableLayer, AssignsEachFilterTheCategoryThatActivatesItMost) {
  InterpretableLayer layer(2, 3, 2, {});
  auto maps = torch::zeros({4, 2, 3, 3});
  maps[0][0].fill_(1.0);  // category 0: filter 0 sums to 9
  maps[1][0].fill_(1.0);
  maps[2][0].fill_(0.5);
  maps[2][1].fill_(2.0);  // category 1: filter 1 sums to 18
  maps[3][1].fill_(9.0);  // no category: must not count
  layer.mask_and_learn(maps, batch_category());
  EXPECT_TRUE(torch::equal(layer.filter_category(), torch::tensor({0, 1}, torch::kInt64)));
  const auto swapped = torch::tensor({1, 1, 0, -1}, torch::kInt64);
  InterpretableLayer other(2, 3, 2, {});
  other.mask_and_learn(maps, swapped);
  EXPECT_TRUE(torch::equal(other.filter_category(), torch::tensor({1, 0}, torch::kInt64)));
}

TEST(InterpretableLayer, LearnsNothingFromEvaluation) {
  InterpretableLayer layer(2, 3, 2, {});
  const auto before = layer.state();
  std::map<std::string, Tensor> copy;
  for (const auto& [name, tensor] : before) copy[name] = tensor.clone();
  layer.mask(torch::rand({4, 2, 3, 3}));
  for (const auto& [name, tensor] : layer.state())
    EXPECT_TRUE(torch::equal(tensor, copy[name])) << name;
}

TEST(InterpretableLayer, GoesOnFromItsSavedState) {
  torch::manual_seed(4);
  InterpretableLayer layer(3, 6, 2, {});
  step(layer, torch::randn({4, 3, 6, 6}), batch_category());
  InterpretableLayer copy(3, 6, 2, {});
  copy.load_state(layer.state());
  const auto values = torch::randn({4, 3, 6, 6});
  EXPECT_TRUE(torch::equal(step(layer, values, batch_category()).gradient,
                           step(copy, values, batch_category()).gradient));
}

TEST(InterpretableLayer, StaysFiniteWhenEveryFilterIsDead) {
  InterpretableLayer layer(3, 6, 2, with_strength(0.03));
  const auto gradient = step(layer, -torch::ones({4, 3, 6, 6}), batch_category()).gradient;
  EXPECT_TRUE(gradient.isfinite().all().item<bool>());
  EXPECT_EQ(layer.take_diagnostics().dead_share, 1.0);
}

}  // namespace
}  // namespace partwise::parts
