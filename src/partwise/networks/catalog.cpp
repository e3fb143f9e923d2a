#include "partwise/networks/catalog.h"

#include "partwise/base/error.h"
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

void make_last_tap_interpretable(Architecture& network) {
  auto& tap = network.taps.back();
  tap.interpretable = static_cast<int64_t>(network.layers.size());
  network.layers.push_back({tap.name + ".mask", Interpretable{}});
}

struct Taps {
  bool top = false;
  bool ours = false;
};

// Skip connections that mix the top layer's filters leave the new layer to be interpretable.
Taps interpretable_taps(const Backbone& backbone, Arm arm, parts::Layers layers) {
  switch (arm) {
    case Arm::ordinary:
    case Arm::ordinary_layer:
      return {};
    case Arm::masked:
    case Arm::interpretable:
      break;
  }
  if (backbone.mixed) return {false, true};
  switch (layers) {
    case parts::Layers::both:
      return {true, true};
    case parts::Layers::first:
      return {true, false};
    case parts::Layers::only_new:
      return {false, true};
  }
  return {};
}

}  // namespace

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
  const auto [top, ours] = interpretable_taps(backbone, arm, parts.layers);
  Architecture network{net, backbone.input_side, backbone.layers, {}};
  auto& layers = network.layers;
  tap_here(network, backbone.top, "top layer of the backbone");
  if (top) make_last_tap_interpretable(network);
  const auto trunk = layer_geometry(layers, network.input_side).back();
  if (arm != Arm::ordinary) {
    const int64_t side = parts.new_kernel;
    ensure(side % 2 == 1, "new_kernel = {}: a kernel has an odd side", side);
    layers.push_back({"new", Convolution{trunk.channels, backbone.new_filters, side, 1, side / 2}});
    layers.push_back({"new.relu", Relu{}});
    tap_here(network, "new", "new layer");
  }
  const bool after = parts.mask_place == parts::MaskPlace::after_pooling;
  if (ours && !after) make_last_tap_interpretable(network);
  layers.push_back({"pool", backbone.last_pool});
  if (ours && after) make_last_tap_interpretable(network);
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
