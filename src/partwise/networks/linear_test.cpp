#include "partwise/networks/linear.h"

#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::networks {
namespace {

struct Product {
  Tensor output, for_input, for_weight, for_bias;
};

template <typename Multiply>
Product product(int64_t rows, int64_t in, int64_t out, const Multiply& multiply) {
  torch::manual_seed(3);
  const auto input = torch::randn({rows, in}).requires_grad_();
  const auto weight = torch::randn({out, in}).requires_grad_();
  const auto bias = torch::randn({out}).requires_grad_();
  const auto output = multiply(input, weight, bias);
  output.backward(torch::randn({rows, out}));
  return {output.detach(), input.grad(), weight.grad(), bias.grad()};
}

constexpr std::array<std::array<int64_t, 3>, 4> kSizes{
    {{32, 15680, 128}, {7, 333, 1001}, {1, 2048, 2048}, {5, 9, 6}}};

TEST(Linear, IsLibTorchsProduct) {
  for (const auto& [rows, in, out] : kSizes) {
    const auto ours = product(rows, in, out, linear);
    const auto theirs = product(rows, in, out, [](const auto& x, const auto& w, const auto& b) {
      return torch::linear(x, w, b);
    });
    const auto near = [&](const Tensor& a, const Tensor& b, int64_t terms) {
      // float32 sums of `terms` products in another order
      const double bound = 1e-6 * std::sqrt(static_cast<double>(terms));
      EXPECT_LT((a - b).abs().max().item<double>(), bound * b.abs().max().item<double>());
    };
    near(ours.output, theirs.output, in);
    near(ours.for_input, theirs.for_input, out);
    near(ours.for_weight, theirs.for_weight, rows);
    near(ours.for_bias, theirs.for_bias, rows);
  }
}

TEST(Linear, IsTheSameToTheLastBitOnAnyNumberOfThreads) {
  for (const auto& [rows, in, out] : kSizes) {
    tensors::start_session(1);
    const auto alone = product(rows, in, out, linear);
    tensors::start_session(3);
    const auto together = product(rows, in, out, linear);
    EXPECT_TRUE(torch::equal(alone.output, together.output));
    EXPECT_TRUE(torch::equal(alone.for_input, together.for_input));
    EXPECT_TRUE(torch::equal(alone.for_weight, together.for_weight));
  }
  tensors::start_session(0);
}

}  // namespace
}  // namespace partwise::networks
