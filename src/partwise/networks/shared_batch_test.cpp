#include "partwise/networks/shared_batch.h"

#include "partwise/tensors/ranks_fixture.h"
#include "partwise/tensors/torch.h"

#include <mutex>

namespace partwise::networks {
namespace {

using tensors::Ranks;

constexpr int64_t kImages = 7;

struct Normed {
  Tensor output;
  Tensor for_input;
  Tensor for_weight;
  Tensor for_bias;
  Tensor mean;
  Tensor variance;
};

Normed normed(const Tensor& values, const Tensor& gradient, const Ranks& ranks) {
  const auto options = torch::TensorOptions(torch::kFloat64);
  const auto [begin, end] = ranks.share(kImages);
  const auto input = values.slice(0, begin, end).clone().requires_grad_();
  const auto weight = torch::linspace(0.5, 2.0, 3, options).requires_grad_();
  const auto bias = torch::linspace(-1.0, 1.0, 3, options).requires_grad_();
  const auto mean = torch::zeros({3}, options);
  const auto variance = torch::ones({3}, options);
  const auto output = batch_norm(input, weight, bias, mean, variance, {ranks, kImages});
  output.backward(gradient.slice(0, begin, end));
  return {output.detach(), input.grad(), weight.grad(), bias.grad(), mean, variance};
}

double difference(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().item<double>();
}

class SharedBatches : public tensors::SeveralRanks {};

TEST_F(SharedBatches, AreNormalisedByTheWholeBatchOnMapsAndOnVectors) {
  torch::manual_seed(1);
  for (const auto& shape : {std::vector<int64_t>{kImages, 3, 4, 5}, {kImages, 3}}) {
    // Means and spreads that differ from image to image, hence from rank to rank.
    auto growth = torch::arange(kImages, torch::kFloat64) + 1.0;
    growth = growth.view(shape.size() == 2 ? std::vector<int64_t>{-1, 1}
                                           : std::vector<int64_t>{-1, 1, 1, 1});
    const auto values = (torch::randn(shape, torch::kFloat64) + 1.0) * growth;
    const auto gradient = torch::randn(shape, torch::kFloat64);
    const auto whole = normed(values, gradient, {});
    tensors::as_ranks(3, [&](const Ranks& ranks) {
      const auto [begin, end] = ranks.share(kImages);
      const auto own = normed(values, gradient, ranks);
      EXPECT_LT(difference(own.output, whole.output.slice(0, begin, end)), 1e-12);
      EXPECT_LT(difference(own.for_input, whole.for_input.slice(0, begin, end)), 1e-12);
      EXPECT_LT(difference(ranks.sum(own.for_weight), whole.for_weight), 1e-12);
      EXPECT_LT(difference(ranks.sum(own.for_bias), whole.for_bias), 1e-12);
      EXPECT_LT(difference(own.mean, whole.mean), 1e-12);
      EXPECT_LT(difference(own.variance, whole.variance), 1e-12);
    });
  }
}

TEST_F(SharedBatches, LoseToDropoutWhatOneProcessWouldLose) {
  const auto input = torch::rand({kImages, 50}) + 0.5;
  torch::manual_seed(2);
  const auto whole = dropout(input, 0.3, {{}, kImages});
  std::mutex one_generator;  // the threads share it, processes do not
  tensors::as_ranks(2, [&](const Ranks& ranks) {
    const auto [begin, end] = ranks.share(kImages);
    const std::lock_guard lock(one_generator);
    torch::manual_seed(2);
    const auto own = dropout(input.slice(0, begin, end), 0.3, {ranks, kImages});
    EXPECT_TRUE(torch::equal(own, whole.slice(0, begin, end)));
  });
}

}  // namespace
}  // namespace partwise::networks
