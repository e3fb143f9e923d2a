#include "partwise/networks/occlusion.h"

#include "partwise/networks/head.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::networks {
namespace {

Network drawn(const std::string& net, Arm arm) {
  return {build_architecture(net, arm, 3, {}, {.hidden = 16}), 3, {}, 5};
}

double largest_gap(const Tensor& a, const Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1e-12)).item<double>();
}

class EveryNet : public testing::TestWithParam<std::pair<const char*, Arm>> {};

TEST_P(EveryNet, AnswersACoveredPatchAsTheWholeNetworkWould) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  const auto network = drawn(GetParam().first, GetParam().second);
  const auto side = network.architecture().input_side;
  const auto image = torch::randn({3, side, side});
  // In the corners, along an edge, inside, off any layer's grid.
  const std::vector<Corner> corners{
      {0, 0}, {side - 13, side - 13}, {side - 13, 0}, {37, 0}, {41, 54}};
  const auto logits = occluded_logits(network, image, corners, 13);
  const auto whole = network.evaluate(image.unsqueeze(0));
  std::vector<Tensor> at_peaks;
  for (std::size_t t = 0; t < whole.taps.size(); ++t)
    at_peaks.push_back(occluded_peaks(network, t, image, corners, 13));
  for (std::size_t i = 0; i < corners.size(); ++i) {
    auto covered = image.clone();
    const auto& [x, y] = corners[i];
    covered.slice(1, y, y + 13).slice(2, x, x + 13).zero_();
    const auto slow = network.evaluate(covered.unsqueeze(0));
    const auto row = static_cast<int64_t>(i);
    // Smaller batches take other kernels: sums are rounded otherwise.
    EXPECT_LT(largest_gap(logits[row], slow.logits[0]), 1e-3);
    for (std::size_t t = 0; t < whole.taps.size(); ++t) {
      const auto peak = whole.taps[t].maps.flatten(2).argmax(2, true);
      const auto wanted = slow.taps[t].maps.flatten(2).gather(2, peak).flatten();
      EXPECT_LT(largest_gap(at_peaks[t][row], wanted), 1e-3) << "tap " << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Occlusion,
                         EveryNet,
                         testing::Values(std::pair{"tiny", Arm::interpretable},
                                         std::pair{"tiny", Arm::ordinary},
                                         std::pair{"squeezenet1-1", Arm::masked},
                                         std::pair{"squeezenet1-1", Arm::ordinary_layer},
                                         std::pair{"alexnet", Arm::ordinary},
                                         std::pair{"vgg-m", Arm::ordinary_layer},
                                         std::pair{"resnet-18", Arm::ordinary_layer}));

TEST(PatchCorners, ReachTheFarEdges) {
  const auto corners = patch_corners(10, 4, 4);
  ASSERT_EQ(corners.size(), 9U);
  EXPECT_EQ(corners[2].x, 6);
  EXPECT_EQ(corners.back().y, 6);
  EXPECT_EQ(patch_corners(4, 4, 2).size(), 1U);
}

TEST(Head, OfAllFiltersIsTheNetworksAnswer) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(2);
  for (const auto* net : {"tiny", "squeezenet1-1", "alexnet"}) {
    const auto network = drawn(net, Arm::interpretable);
    const auto side = network.architecture().input_side;
    const auto output = network.evaluate(torch::randn({2, 3, side, side}));
    const Head head(network);
    const auto added = head.by_filter(output.features);
    EXPECT_LT(largest_gap(head.logits(added.sum(1)), output.logits), 1e-4) << net;
    // Silencing a filter is leaving its part of the sum out.
    auto silenced = output.features.clone();
    silenced.select(1, 3).zero_();
    const auto layers = network.architecture().layers;
    auto slow = silenced;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool behind = std::holds_alternative<Flatten>(layers[i].operation) || slow.dim() == 2;
      if (behind) slow = network.evaluate_layer(static_cast<int64_t>(i), {slow});
    }
    EXPECT_LT(largest_gap(head.logits(added.sum(1) - added.select(1, 3)), slow), 1e-4) << net;
  }
}

}  // namespace
}  // namespace partwise::networks
