#include "partwise/networks/catalog.h"

#include "partwise/base/names.h"

#include <fmt/core.h>

namespace partwise::networks {
namespace {

struct Row {
  std::string name;
  Backbone (*make)();
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows{
      {"tiny", tiny},
      {"alexnet", alexnet},
      {"vgg-m", vgg_m},
      {"vgg-s", vgg_s},
      {"vgg-16", vgg_16},
      {"squeezenet1-1", squeezenet1_1},
      {"torchvision-alexnet", torchvision_alexnet},
      {"vgg-16-bn", vgg_16_bn},
      {"resnet-18", resnet_18},
      {"resnet-50", resnet_50},
  };
  return kRows;
}

// Records the maps behind the last layer so far as a tap.
void tap_here(Architecture& network, const std::string& name, const std::string& role) {
  network.taps.push_back({name, role, static_cast<int64_t>(network.layers.size()) - 1});
}

void mask_last_tap(Architecture& network) {
  auto& tap = network.taps.back();
  tap.mask = static_cast<int64_t>(network.layers.size());
  network.layers.push_back({tap.name + ".mask", PartMask{}});
}

}  // namespace

const std::vector<std::string>& arm_names() {
  static const std::vector<std::string> kNames{"ordinary", "ordinary+layer", "masked",
                                               "interpretable"};
  return kNames;
}

Arm arm_from_name(const std::string& name) {
  return static_cast<Arm>(index_of_name("arm", name, arm_names()));
}

const std::string& arm_name(Arm arm) {
  return arm_names()[static_cast<std::size_t>(arm)];
}

const std::vector<std::string>& network_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& row : rows()) names.push_back(row.name);
    return names;
  }();
  return kNames;
}

Backbone find_backbone(const std::string& net) {
  return rows()[index_of_name("net", net, network_names())].make();
}

Architecture build_architecture(const std::string& net,
                                Arm arm,
                                int64_t outputs,
                                const parts::PartOptions& parts,
                                const HeadOptions& head) {
  const auto backbone = find_backbone(net);
  const bool masked = arm == Arm::masked || arm == Arm::interpretable;
  Architecture network{net, backbone.input_side, backbone.layers, {}};
  auto& layers = network.layers;
  tap_here(network, backbone.top, "top layer of the backbone");
  if (masked && parts.layers != "new" && !backbone.mixed) mask_last_tap(network);
  const auto trunk = layer_geometry(layers, network.input_side).back();
  if (arm != Arm::ordinary) {
    layers.push_back({"new", Convolution{trunk.channels, backbone.new_filters}});
    layers.push_back({"new.relu", Relu{}});
    tap_here(network, "new", "new layer");
  }
  const bool mask_new = masked && (parts.layers != "first" || backbone.mixed);
  const bool after = parts.mask_place == "after-pooling";
  if (mask_new && !after) mask_last_tap(network);
  layers.push_back({"pool", backbone.last_pool});
  if (mask_new && after) mask_last_tap(network);
  layers.push_back({"flatten", Flatten{}});
  auto features = layer_geometry(layers, network.input_side).back().channels;
  const double dropout = head.dropout < 0.0 ? backbone.dropout : head.dropout;
  for (std::size_t i = 0; i < backbone.hidden.size(); ++i) {
    const auto name = fmt::format("fc{}", i + 1);
    const auto width = head.hidden > 0 ? head.hidden : backbone.hidden[i];
    layers.push_back({name, Linear{features, width}});
    if (backbone.hidden_norm) layers.push_back({name + ".norm", BatchNorm{width}});
    layers.push_back({name + ".relu", Relu{}});
    layers.push_back({name + ".dropout", Dropout{dropout}});
    features = width;
  }
  layers.push_back({"out", Linear{features, outputs}});
  return network;
}

}  // namespace partwise::networks
