#include "partwise/networks/norm_pool.h"

#include "partwise/networks/shared_batch.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::networks {
namespace {

struct Passed {
  Tensor output, for_input, for_weight, for_bias, mean, variance;
};

using Shape = std::array<int64_t, 4>;

Passed pass(const Shape& shape, bool pool, bool fused) {
  torch::manual_seed(5);
  const auto [rows, channels, side, square] = shape;
  const auto input =
      (2.0 * torch::randn({rows, channels, side, square}) + 0.5).detach().requires_grad_();
  const auto weight = torch::randn({channels}).requires_grad_();  // some turn large into small
  const auto bias = torch::randn({channels}).requires_grad_();
  const auto mean = torch::zeros({channels});
  const auto variance = torch::ones({channels});
  Tensor output;
  if (fused) {
    output = norm_relu_pool(input, weight, bias, mean, variance, pool);
  } else {
    output = torch::relu(batch_norm(input, weight, bias, mean, variance, {{}, rows}));
    if (pool) output = torch::max_pool2d(output, 2, 2);
  }
  output.backward(torch::randn(output.sizes()));
  return {output.detach(), input.grad(), weight.grad(), bias.grad(), mean, variance};
}

const std::vector<Shape> kShapes{
    {32, 24, 56, 56}, {3, 5, 7, 7}, {2, 1, 2, 2}, {4, 3, 9, 9}, {5, 2, 14, 14}};

TEST(NormReluPool, IsTheThreeOperatorsOneByOne) {
  for (const auto& shape : kShapes) {
    for (const bool pool : {false, true}) {
      const auto ours = pass(shape, pool, true);
      const auto theirs = pass(shape, pool, false);
      const auto near = [&](const Tensor& a, const Tensor& b, const char* what) {
        ASSERT_EQ(a.sizes(), b.sizes());
        // float32 sums of up to 100,000 values in another order
        EXPECT_LT((a - b).abs().max().item<double>(), 2e-5 * b.abs().max().item<double>() + 1e-6)
            << what << " of " << shape[2] << (pool ? " pooled" : "");
      };
      near(ours.output, theirs.output, "output");
      near(ours.for_input, theirs.for_input, "gradient of the input");
      near(ours.for_weight, theirs.for_weight, "gradient of the weight");
      near(ours.for_bias, theirs.for_bias, "gradient of the bias");
      near(ours.mean, theirs.mean, "running mean");
      near(ours.variance, theirs.variance, "running variance");
    }
  }
}

TEST(NormReluPool, IsTheSameToTheLastBitOnAnyNumberOfThreads) {
  tensors::start_session(1);
  const auto alone = pass(kShapes.front(), true, true);
  tensors::start_session(3);
  const auto together = pass(kShapes.front(), true, true);
  tensors::start_session(0);
  EXPECT_TRUE(torch::equal(alone.output, together.output));
  EXPECT_TRUE(torch::equal(alone.for_input, together.for_input));
  EXPECT_TRUE(torch::equal(alone.for_weight, together.for_weight));
}

TEST(NormReluPool, PassesOnWhatIsNotANumber) {
  auto input = torch::randn({2, 3, 4, 4});
  input[1][2][3][0] = std::numeric_limits<float>::infinity();
  const auto ones = torch::ones({3});
  for (const bool pool : {false, true}) {
    const auto output = norm_relu_pool(input, ones, ones, ones.clone(), ones.clone(), pool);
    EXPECT_TRUE(torch::isfinite(output.slice(1, 0, 2)).all().item<bool>());
    EXPECT_TRUE(torch::isnan(output.select(1, 2)).all().item<bool>());
  }
}

}  // namespace
}  // namespace partwise::networks
