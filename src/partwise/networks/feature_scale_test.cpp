#include "partwise/networks/pretrained.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::networks {
namespace {

Network make(const std::string& net, Arm arm) {
  return {build_architecture(net, arm, 2, {}, {.hidden = 16}), 2, {}, 3};
}

TEST(FeatureScale, IsTheUnitOfTheFirstTapAndNothingElse) {
  torch::manual_seed(1);
  for (const auto* net : {"tiny", "squeezenet1-1"}) {
    auto network = make(net, Arm::interpretable);
    const auto side = network.architecture().input_side;
    const auto images = torch::randn({2, 3, side, side});
    const auto before = network.evaluate(images).taps.front().maps;
    const double scale = feature_scale(network, images);
    ASSERT_TRUE(scale_features(network, 1.0 / scale)) << net;
    EXPECT_NEAR(feature_scale(network, images), 1.0, 1e-5) << net;
    const auto after = network.evaluate(images).taps.front().maps;
    EXPECT_TRUE(torch::allclose(after * scale, before, 1e-4, 1e-5)) << net;
  }
}

TEST(FeatureScale, LeavesANetAloneWhoseSkipConnectionsMixLayers) {
  auto network = make("resnet-18", Arm::ordinary_layer);
  const auto before = network.parameters().begin()->second.clone();
  EXPECT_FALSE(scale_features(network, 0.5));
  EXPECT_TRUE(torch::equal(network.parameters().begin()->second, before));
}

}  // namespace
}  // namespace partwise::networks
