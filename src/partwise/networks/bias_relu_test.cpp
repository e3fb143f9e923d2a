#include "partwise/networks/bias_relu.h"

#include "partwise/kernels/gpu_emulation_fixture.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <memory>

namespace partwise::networks {
namespace {

void expect_as_operators(int64_t channels, int64_t side, at::ScalarType type, double near) {
  std::unique_ptr<kernels::EmulatedGpu> emulated;
  if (kernels::gpu_kernels(0) == nullptr) emulated = std::make_unique<kernels::EmulatedGpu>();
  const torch::Device device = emulated ? torch::kCPU : torch::kCUDA;
  torch::manual_seed(1);
  const auto images = torch::randn({3, channels, side, side + 1}).to(device, type);
  const auto bias = torch::randn({channels}).to(device).requires_grad_();
  const auto weight = torch::randn_like(images);
  const auto run = [&](bool fused) {
    const auto leaf = images.clone().contiguous(at::MemoryFormat::ChannelsLast).requires_grad_();
    bias.mutable_grad() = Tensor();
    const auto x = leaf * 1.0;  // made for this alone
    EXPECT_TRUE(can_add_bias_in_relu(x, bias));
    const auto sum = x.to(torch::kFloat32) + bias.view({1, -1, 1, 1});
    const auto y = fused ? bias_relu(x, bias) : torch::relu(sum).to(type);
    (y * weight).to(torch::kFloat32).sum().backward();
    return std::vector<Tensor>{y.detach(), leaf.grad(), bias.grad()};
  };
  const auto ours = run(true);
  const auto theirs = run(false);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto one = ours[i].to(torch::kCPU, torch::kFloat64);
    const auto other = theirs[i].to(torch::kCPU, torch::kFloat64);
    EXPECT_LE((one - other).abs().max().item<double>(), near * other.abs().max().item<double>())
        << i << " " << channels << " " << side;
  }
}

TEST(BiasRelu, IsWhatTheOperatorsGive) {
  for (const int64_t channels : {2, 6, 64, 514, 1200}) {
    for (const int64_t side : {1, 7}) expect_as_operators(channels, side, torch::kFloat32, 1e-5);
  }
  expect_as_operators(64, 5, torch::kBFloat16, 2e-2);  // eight digits
}

}  // namespace
}  // namespace partwise::networks
