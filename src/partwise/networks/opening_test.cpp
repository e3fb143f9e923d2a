#include "partwise/networks/opening.h"

#include "partwise/interpretable.h"
#include "partwise/kernels/gpu_emulation_fixture.h"
#include "partwise/networks/network.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>

namespace partwise::networks {
namespace {

struct Case {
  std::vector<int64_t> channels;
  int64_t high;
  int64_t wide;
  std::optional<MaxPool> pool = {};
  bool biases = true;
};

class OpeningTest : public ::testing::Test {
 protected:
  OpeningTest() {
    if (kernels::gpu_kernels(0) == nullptr) emulated_ = std::make_unique<kernels::EmulatedGpu>();
  }
  torch::Device device() const { return emulated_ ? torch::kCPU : torch::kCUDA; }

  // Numbers with many ties, and windows that are all below 0.
  Tensor made_up(at::IntArrayRef shape) const {
    return torch::randn(shape).mul(4).round().div(4).to(device());
  }

  // The result, the gradients of the pieces, and those of the biases.
  std::vector<Tensor> there_and_back(const Case& test, at::ScalarType type, bool fused) const {
    torch::manual_seed(1);
    std::vector<Tensor> leaves;
    Opening opening{{}, {}, test.pool};
    for (const int64_t channels : test.channels) {
      leaves.push_back(made_up({3, channels, test.high, test.wide})
                           .to(type)
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .requires_grad_());
      opening.pieces.push_back(leaves.back() * 1.0);  // made for this alone
      if (test.biases) opening.biases.push_back(made_up({channels}).requires_grad_());
    }
    EXPECT_TRUE(can_open_in_one_pass(opening));
    Tensor y;
    if (fused) {
      y = open(opening);
    } else {
      std::vector<Tensor> opened;
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        opened.push_back(opening.pieces[i].to(torch::kFloat32));
        if (!test.biases) continue;
        const auto sum = opened[i] + opening.biases[i].view({1, -1, 1, 1});
        opened[i] = torch::relu(sum.to(type).to(torch::kFloat32));
      }
      y = torch::cat(opened, 1);
      if (test.pool) {
        const auto [kernel, stride, padding, end] = *test.pool;
        const auto low = -std::numeric_limits<float>::infinity();
        y = torch::constant_pad_nd(y, {padding, padding + end, padding, padding + end}, low);
        y = torch::max_pool2d(y, kernel, stride);
      }
      y = y.to(type);
    }
    const auto weight = torch::randn(y.sizes()).to(device(), type);
    (y * weight).to(torch::kFloat32).sum().backward();
    std::vector<Tensor> found{y.detach()};
    for (const auto& leaf : leaves) found.push_back(leaf.grad());
    for (const auto& bias : opening.biases) found.push_back(bias.grad());
    return found;
  }

  void expect_as_operators(const Case& test, at::ScalarType type, double near) const {
    const auto ours = there_and_back(test, type, true);
    const auto theirs = there_and_back(test, type, false);
    const auto what =
        fmt::format("{} channels, {} x {}, {}, window {}", test.channels.front(), test.high,
                    test.wide, c10::toString(type), test.pool ? test.pool->kernel : 1);
    EXPECT_TRUE(ours[0].cpu().equal(theirs[0].cpu())) << what;
    for (std::size_t i = 1; i < ours.size(); ++i) {
      const auto one = ours[i].to(torch::kCPU, torch::kFloat64);
      const auto other = theirs[i].to(torch::kCPU, torch::kFloat64);
      EXPECT_LE((one - other).abs().max().item<double>(), near * other.abs().max().item<double>())
          << i << ": " << what;
    }
  }

 private:
  std::unique_ptr<kernels::EmulatedGpu> emulated_;
};

// Whole packs of 16 bytes and pairs, more packs than a block has threads, fewer cells than slots.
TEST_F(OpeningTest, IsWhatTheOperatorsGive) {
  for (const int64_t channels : {2, 6, 64, 514, 2304}) {
    for (const int64_t side : {1, 7}) {
      expect_as_operators({{channels}, side, side + 1}, torch::kFloat32, 1e-5);
      expect_as_operators({{channels}, side, side + 1}, torch::kBFloat16, 1e-2);  // eight digits
    }
  }
}

TEST_F(OpeningTest, PutsPiecesSideBySide) {
  for (const auto& channels : std::vector<std::vector<int64_t>>{{8, 16}, {64, 64, 8, 4}, {6, 2}}) {
    for (const int64_t side : {1, 6}) {
      expect_as_operators({channels, side + 2, side}, torch::kFloat32, 1e-5);
      expect_as_operators({channels, side + 2, side}, torch::kBFloat16, 1e-2);
    }
  }
}

TEST_F(OpeningTest, PoolsAsTheOperatorsDo) {
  const std::vector<MaxPool> pools{{2, 2},       {3, 2},       {3, 2, 0, 1}, {3, 2, 1, 0},
                                   {3, 3, 0, 2}, {5, 1, 2, 0}, {2, 3}};
  for (const auto& pool : pools) {
    for (const auto& channels : std::vector<std::vector<int64_t>>{{64}, {6}, {24, 8}}) {
      for (const int64_t side : {5, 8, 13}) {
        for (const bool biases : {true, false}) {
          expect_as_operators({channels, side, side + 1, pool, biases}, torch::kFloat32, 1e-5);
          expect_as_operators({channels, side, side + 1, pool, biases}, torch::kBFloat16, 1e-2);
        }
      }
    }
  }
}

TEST_F(OpeningTest, KeepsWhatIsNoNumber) {
  const std::vector<std::optional<MaxPool>> pools{std::nullopt, MaxPool{2, 2}};
  for (const auto& pool : pools) {
    auto x = torch::ones({1, 8, 4, 4}).to(device());
    x[0][3][2][2] = std::numeric_limits<float>::quiet_NaN();
    const auto y = open({{x}, {torch::zeros({8}).to(device())}, pool});
    EXPECT_EQ(torch::isnan(y).sum().item<int64_t>(), 1);
  }
}

TEST_F(OpeningTest, LeavesWindowsThatAreNotOnTheMapsToTheOperators) {
  const std::vector<Tensor> maps{torch::ones({1, 2, 1, 4}).to(device())};
  EXPECT_FALSE(can_open_in_one_pass({maps, {}, MaxPool{2, 2}}));
  EXPECT_FALSE(can_open_in_one_pass({maps, {}, MaxPool{2, 2, 0, 2}}));
  EXPECT_TRUE(can_open_in_one_pass({maps, {}, MaxPool{2, 2, 0, 1}}));
}

// Every kind of layer that may be left to another, in a net of a few cells.
Architecture small_net(bool interpretable) {
  Architecture net{"small", 20, {}, {}};
  auto& layers = net.layers;
  layers = {{"a", Convolution{3, 8}},
            {"a.relu", Relu{}},
            {"a.pool", MaxPool{3, 2}},
            {"squeeze", Convolution{8, 6, 1, 1, 0}},
            {"squeeze.relu", Relu{}},
            {"left", Convolution{6, 8, 1, 1, 0}, {"squeeze.relu"}},
            {"left.relu", Relu{}},
            {"right", Convolution{6, 8}, {"squeeze.relu"}},
            {"right.relu", Relu{}},
            {"both", Concatenate{}, {"left.relu", "right.relu"}},
            {"left2", Convolution{16, 6, 1, 1, 0}, {"both"}},
            {"left2.relu", Relu{}},
            {"right2", Convolution{16, 10}, {"both"}},
            {"right2.relu", Relu{}},
            {"both2", Concatenate{}, {"left2.relu", "right2.relu"}}};
  if (interpretable) layers.push_back({"both2.mask", Interpretable{}});
  layers.push_back({"both2.pool", MaxPool{2, 2}});
  layers.push_back({"odd", Convolution{16, 7}});
  layers.push_back({"odd.relu", Relu{}});
  layers.push_back({"odd.pool", MaxPool{2, 2}});
  layers.push_back({"flatten", Flatten{}});
  layers.push_back({"out", Linear{7 * 2 * 2, 3}});
  return net;
}

TEST_F(OpeningTest, ANetworksStepIsTheSameByEitherPath) {
  for (const bool interpretable : {false, true}) {
    std::vector<std::map<std::string, Tensor>> gradients;
    std::vector<Tensor> logits;
    for (const bool gpu : {false, true}) {
      const auto* kernels = gpu ? nullptr : kernels::use_gpu_kernels(nullptr);
      parts::PartOptions options;
      options.strength = 0.0;  // with it: parts/gpu_layer_test.cpp
      Network net(small_net(interpretable), 3, options, 7);
      torch::manual_seed(3);
      const auto images = torch::randn({4, 3, 20, 20}).to(gpu ? device() : torch::kCPU);
      for (auto& [name, parameter] : net.parameters()) {
        const torch::NoGradGuard no_grad;
        if (name.ends_with(".bias")) parameter.uniform_(-0.3, 0.3);
      }
      const std::string place = images.is_cuda() ? "cuda" : "cpu";
      if (gpu) net.to_device(place);
      const tensors::PrecisionScope precision(tensors::Precision::float32, place);
      const auto labels = torch::tensor({0, 1, 2, 1}, torch::kInt64).to(images.device());
      const int launches = kernels::launches;
      const auto output = net.train(images.contiguous(at::MemoryFormat::ChannelsLast), labels);
      // A pooling, a ReLU, a join, and what pools behind a join; the odd one is left to operators.
      if (gpu && !interpretable && !device().is_cuda()) {
        EXPECT_EQ(kernels::launches - launches, 4);
      }
      output.logits.square().sum().backward();
      logits.push_back(output.logits.detach().cpu());
      auto& found = gradients.emplace_back();
      for (const auto& [name, parameter] : net.parameters()) found[name] = parameter.grad().cpu();
      if (!gpu) kernels::use_gpu_kernels(kernels);
    }
    EXPECT_TRUE(torch::allclose(logits[0], logits[1], 1e-4, 1e-5));
    for (const auto& [name, gradient] : gradients[0]) {
      const auto& other = gradients[1].at(name);
      EXPECT_LE((gradient - other).abs().max().item<double>(),
                1e-4 * gradient.abs().max().item<double>())
          << name << (interpretable ? ", interpretable" : "");
    }
  }
}

}  // namespace
}  // namespace partwise::networks
