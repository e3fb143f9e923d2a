#include "partwise/networks/together.h"

#include "partwise/networks/catalog.h"

#include <gtest/gtest.h>

#include <map>

namespace partwise::networks {
namespace {

// Every net and arm, and the mask on either side of the pooling.
std::vector<Architecture> all_nets() {
  std::vector<Architecture> nets;
  for (const auto& net : network_names()) {
    for (const auto arm : {Arm::ordinary, Arm::ordinary_layer, Arm::interpretable}) {
      for (const auto place : {parts::MaskPlace::before_pooling, parts::MaskPlace::after_pooling}) {
        parts::PartOptions options;
        options.mask_place = place;
        nets.push_back(build_architecture(net, arm, 6, options));
      }
    }
  }
  return nets;
}

TEST(Together, NoBiasIsLostOrAddedTwice) {
  for (const auto& net : all_nets()) {
    SCOPED_TRACE(net.net);
    const auto together = find_together(net.layers);
    std::vector<int> added(net.layers.size(), 0);
    for (const auto& layer : together) {
      for (const int64_t from : layer.opens)
        added[static_cast<std::size_t>(from)] += layer.with_biases ? 1 : 0;
    }
    for (std::size_t i = 0; i < net.layers.size(); ++i)
      EXPECT_EQ(added[i], together[i].without_bias ? 1 : 0) << net.layers[i].name;
  }
}

// Whoever reads a layer that was left out does its work, or was left out as well.
TEST(Together, NobodyReadsWhatWasLeftOut) {
  for (const auto& net : all_nets()) {
    SCOPED_TRACE(net.net);
    const auto together = find_together(net.layers);
    const auto inputs = layer_inputs(net.layers);
    for (std::size_t i = 0; i < net.layers.size(); ++i) {
      for (const int64_t from : inputs[i]) {
        if (from < 0 || !together[static_cast<std::size_t>(from)].left_out) continue;
        EXPECT_TRUE(together[i].left_out || !together[i].opens.empty()) << net.layers[i].name;
      }
    }
  }
}

TEST(Together, TheLastBehindAReluDoesItsWork) {
  const auto net = build_architecture("squeezenet1-1", Arm::ordinary, 6);
  const auto together = find_together(net.layers);
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < net.layers.size(); ++i) index[net.layers[i].name] = i;
  const auto opens = [&](const char* layer) {
    std::vector<std::string> names;
    for (const int64_t from : together[index.at(layer)].opens)
      names.push_back(net.layers[static_cast<std::size_t>(from)].name);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(opens("features.2"), Names{"features.0"});  // pooling, for a ReLU
  EXPECT_EQ(opens("features.3"), (Names{"features.3.expand1x1", "features.3.expand3x3"}));
  EXPECT_EQ(opens("features.4"), Names{});  // left to the pooling behind it
  EXPECT_EQ(opens("features.5"), (Names{"features.4.expand1x1", "features.4.expand3x3"}));
  EXPECT_EQ(opens("features.3.squeeze_activation"), Names{"features.3.squeeze"});  // read twice
}

}  // namespace
}  // namespace partwise::networks
