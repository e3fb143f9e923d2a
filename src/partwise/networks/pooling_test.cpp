#include "partwise/networks/pooling.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::networks {
namespace {

TEST(MaxPool, OfPairsIsLibTorchsToTheLastBit) {
  torch::manual_seed(5);
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{2, 2}, {3, 2}, {7, 9}, {56, 56}, {28, 28}, {15, 14}}) {
    // Few different values: ties.
    const auto values = torch::randn({3, 5, rows, columns}).mul(4).round().relu();
    const auto ours = values.clone().requires_grad_();
    const auto theirs = values.clone().requires_grad_();
    const auto pooled = max_pool(ours, MaxPool{});
    const auto reference = torch::max_pool2d(theirs, 2, 2);
    EXPECT_TRUE(torch::equal(pooled, reference));
    const auto gradient = torch::randn_like(reference);
    pooled.backward(gradient);
    reference.backward(gradient);
    EXPECT_TRUE(torch::equal(ours.grad(), theirs.grad())) << rows << " x " << columns;
  }
}

TEST(MaxPool, OfPairsCanBeDifferentiatedTwice) {
  const auto input = torch::randn({2, 3, 6, 6}).requires_grad_();
  const auto pooled = max_pool(input, MaxPool{}).pow(3).sum();
  const auto once = torch::autograd::grad({pooled}, {input}, {}, true, true)[0];
  const auto twice = torch::autograd::grad({once.sum()}, {input})[0];
  const auto reference =
      torch::autograd::grad({torch::max_pool2d(input, 2, 2).mul(6).sum()}, {input})[0];
  EXPECT_TRUE(torch::allclose(twice, reference * input));
}

TEST(MaxPool, OfOtherWindowsTypesAndLayoutsIsLibTorchs) {
  const auto input = torch::randn({2, 3, 9, 9});
  EXPECT_TRUE(torch::equal(max_pool(input, {3, 2, 0, 0}), torch::max_pool2d(input, 3, 2)));
  const auto wide = input.to(torch::kFloat64);
  EXPECT_TRUE(torch::equal(max_pool(wide, MaxPool{}), torch::max_pool2d(wide, 2, 2)));
  const auto turned = input.transpose(2, 3);
  EXPECT_TRUE(torch::equal(max_pool(turned, MaxPool{}), torch::max_pool2d(turned, 2, 2)));
  EXPECT_EQ(max_pool(torch::zeros({0, 3, 4, 4}), MaxPool{}).size(0), 0);
}

}  // namespace
}  // namespace partwise::networks
