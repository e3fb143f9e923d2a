#include "partwise/networks/layers.h"

#include "partwise/base/error.h"
#include "partwise/networks/network.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::networks {
namespace {

TEST(Geometry, FollowsTheRecursionByHand) {
  const std::vector<Layer> layers{{"a", Convolution{3, 8, 7, 2, 0}}, {"b", MaxPool{3, 2}}};
  const auto geometry = layer_geometry(layers, 224);
  EXPECT_EQ(geometry[0].side, 109);  // VGG-M's conv1
  EXPECT_EQ(geometry[0].offset, 3.0);
  EXPECT_EQ(geometry[0].receptive_field, 7.0);
  EXPECT_EQ(geometry[1].side, 54);
  EXPECT_EQ(geometry[1].offset, 5.0);
  EXPECT_EQ(geometry[1].stride, 4.0);
  EXPECT_EQ(geometry[1].receptive_field, 11.0);
}

TEST(Geometry, RefusesLayersThatDoNotFit) {
  EXPECT_THROW(layer_geometry({{"a", Convolution{4, 8, 3, 1, 1}}}, 8), std::logic_error);
  EXPECT_THROW(layer_geometry({{"a", MaxPool{9, 1}}}, 8), std::logic_error);
}

class Taps : public testing::TestWithParam<std::string> {};

// The input pixels a unit's value depends on, found by its gradient, are centred where the
// recursion says.
TEST_P(Taps, UnitCentresAreWhereInputGradientsAre) {
  torch::manual_seed(1);
  auto options = parts::PartOptions{};
  options.strength = 0.0;
  Network network(build_architecture(GetParam(), Arm::ordinary_layer, 3), 3, options, 1);
  for (auto& [name, parameter] : network.parameters()) parameter.data().abs_();  // every path open
  const auto side = network.architecture().input_side;
  for (std::size_t t = 0; t < network.architecture().taps.size(); ++t) {
    const auto& geometry =
        network.geometry()[static_cast<std::size_t>(network.architecture().taps[t].relu)];
    const auto middle = geometry.side / 2;
    auto support = torch::zeros({side, side}, torch::kBool);
    for (int draw = 0; draw < 24;
         ++draw) {  // pooling opens one path a draw; their union is the field
      auto images = torch::rand({1, 3, side, side}).requires_grad_();
      network.evaluate(images).taps[t].maps.select(2, middle).select(2, middle).sum().backward();
      support = support.logical_or(images.grad().abs().amax({0, 1}) > 0);
    }
    const auto pixels = support.nonzero().to(torch::kFloat64);
    for (int64_t axis = 0; axis < 2; ++axis) {
      const double low = pixels.select(1, axis).min().item<double>();
      const double high = pixels.select(1, axis).max().item<double>();
      const double centre = geometry.offset + geometry.stride * static_cast<double>(middle);
      EXPECT_NEAR((low + high) / 2.0, centre, 1.0) << network.architecture().taps[t].name;
      EXPECT_NEAR(high - low + 1.0, geometry.receptive_field, 2.0);
    }
  }
}

TEST_P(Taps, EveryArmRunsAndSharesItsFirstWeights) {
  const auto& names = arm_names();
  Network reference(build_architecture(GetParam(), Arm::ordinary, 4), 4, {}, 3);
  for (const auto& name : names) {
    const auto arm = arm_from_name(name);
    Network network(build_architecture(GetParam(), arm, 4), 4, {}, 3);
    const auto side = network.architecture().input_side;
    const auto output = network.evaluate(torch::rand({2, 3, side, side}));
    EXPECT_EQ(output.logits.sizes(), (std::vector<int64_t>{2, 4}));
    EXPECT_EQ(output.taps.size(), arm == Arm::ordinary ? 1U : 2U);
    EXPECT_TRUE(torch::equal(network.parameters().at("conv1.weight"),
                             reference.parameters().at("conv1.weight")));
    const bool masked = arm == Arm::masked || arm == Arm::interpretable;
    EXPECT_EQ(torch::equal(output.taps[0].maps, output.taps[0].masked), !masked) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryNet, Taps, testing::ValuesIn(network_names()));

TEST(Catalog, AnUnknownNetListsTheValidOnes) {
  try {
    build_architecture("tinny", Arm::ordinary, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tiny"), std::string::npos);
  }
}

TEST(NetworkState, ComesBackFromItsOwnTensorsAndRefusesOthers) {
  Network one(build_architecture("tiny", Arm::interpretable, 2), 2, {}, 1);
  Network two(build_architecture("tiny", Arm::interpretable, 2), 2, {}, 2);
  const auto images = torch::rand({1, 3, 112, 112});
  EXPECT_FALSE(torch::equal(one.evaluate(images).logits, two.evaluate(images).logits));
  two.load_state(one.state());
  EXPECT_TRUE(torch::equal(one.evaluate(images).logits, two.evaluate(images).logits));
  auto damaged = one.state();
  damaged.erase("conv2.weight");
  EXPECT_THROW(two.load_state(damaged), Error);
}

}  // namespace
}  // namespace partwise::networks
