#include "partwise/explaining/attribution_maps.h"

#include "partwise/explaining/part_claims.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::explaining {
namespace {

constexpr int64_t kSide = 8;

// A convolution of stride 2 without bias and a fully connected layer: linear, the tap is the
// convolution itself.
networks::Network linear_network() {
  networks::Architecture architecture;
  architecture.net = "linear";
  architecture.input_side = kSide;
  architecture.layers = {{"conv", networks::Convolution{3, 4, 2, 2, 0, 1, false}},
                         {"flat", networks::Flatten{}},
                         {"fc", networks::Linear{4 * 16, 3}}};
  architecture.taps = {{"conv", "top", 0, -1}};
  return {architecture, 3, {}, 7};
}

class AttributionMaps : public testing::Test {
 protected:
  AttributionMaps() { torch::manual_seed(3); }

  networks::Network network_ = linear_network();
  Tensor images_ = torch::randn({2, 3, kSide, kSide});
};

TEST_F(AttributionMaps, OfInputTimesGradientSumToALinearNetworksLogit) {
  const GradientMaps maps(network_, images_);
  const auto found = maps.of(std::vector<int64_t>{2, 0}).input_times_gradient;
  ASSERT_EQ(found.sizes(), (std::vector<int64_t>{2, kSide, kSide}));
  const auto logits = maps.output().logits.detach();
  // Sums of 192 products in single precision.
  EXPECT_NEAR(found[0].sum().item<double>(), logits[0][2].item<double>(), 1e-4);
  EXPECT_NEAR(found[1].sum().item<double>(), logits[1][0].item<double>(), 1e-4);
}

TEST_F(AttributionMaps, OfGradCamAreThoseComputedByHand) {
  const GradientMaps maps(network_, images_);
  const auto found = maps.of(std::vector<int64_t>{1, 1}).grad_cam;
  const auto activations = maps.output().taps[0].maps.detach();  // [2, 4, 4, 4]
  const auto weights = network_.parameters().at("fc.weight").detach()[1].view({4, 16}).mean(1);
  const auto cam = torch::relu((activations * weights.view({1, 4, 1, 1})).sum(1));
  // Beyond the outermost units the enlarged map is constant: its corners are the cells'.
  for (int64_t row = 0; row < 2; ++row) {
    EXPECT_NEAR(found[row][0][0].item<double>(), cam[row][0][0].item<double>(), 1e-6);
    EXPECT_NEAR(found[row][7][7].item<double>(), cam[row][3][3].item<double>(), 1e-6);
    // Units lie at 0.5, 2.5, ...: pixel 1 is a quarter of the way from the first to the second.
    EXPECT_NEAR(found[row][0][1].item<double>(),
                0.75 * cam[row][0][0].item<double>() + 0.25 * cam[row][0][1].item<double>(), 1e-5);
  }
  EXPECT_GE(found.min().item<double>(), 0.0);
}

TEST_F(AttributionMaps, OfOcclusionAreTheDropsOfALinearNetwork) {
  // One square per 2 x 2 cell: what it holds is what its pixels add to the logit.
  const auto found = occlusion_maps(network_, images_[0], {.patch = 0.25, .step = 0.25});
  const GradientMaps maps(network_, images_);
  const auto added = maps.of(std::vector<int64_t>{1, 1}).input_times_gradient[0];
  for (int64_t y = 0; y < kSide; y += 2) {
    for (int64_t x = 0; x < kSide; x += 2) {
      const auto inside = added.slice(0, y, y + 2).slice(1, x, x + 2).sum().item<double>();
      EXPECT_NEAR(found[1][y][x].item<double>(), inside, 1e-4);  // single precision
      EXPECT_EQ(found[1][y][x].item<float>(), found[1][y + 1][x + 1].item<float>());
    }
  }
}

TEST(PatchMaps, AreTheMeanOfThePatchesThatCoverAPixel) {
  const std::vector<networks::Corner> corners{{0, 0}, {1, 0}};
  const auto maps = spread_over_patches(torch::tensor({{4.0F}, {2.0F}}), corners, 2, 4);
  EXPECT_EQ(maps[0][0][0].item<float>(), 4.0F);
  EXPECT_EQ(maps[0][0][1].item<float>(), 3.0F);
  EXPECT_EQ(maps[0][0][2].item<float>(), 2.0F);
  EXPECT_EQ(maps[0][0][3].item<float>(), 0.0F);  // nobody covered it
}

TEST(MapClaims, AreSumsInsidePartsAndTheShareOutsideTheAnimal) {
  ClaimedRow row;
  row.names = {"head", "tail"};
  row.parts = {metrics::PixelSet(2), metrics::PixelSet(2)};
  row.parts[0].insert(0, 0);
  row.parts[1].insert(1, 0);
  row.parts[1].insert(1, 1);
  row.animal = row.parts[0];
  row.animal.insert_all(row.parts[1]);
  const std::vector<float> map{3.0F, 2.0F, 5.0F, -4.0F};  // (0, 0), (1, 0), (0, 1), (1, 1)
  const auto claim = claim_of_maps(row, map, {});
  EXPECT_EQ(claim.decided, (std::vector<double>{3.0, -2.0}));
  EXPECT_TRUE(claim.runner_up.empty());
  EXPECT_DOUBLE_EQ(claim.elsewhere, 0.5);
}

}  // namespace
}  // namespace partwise::explaining
