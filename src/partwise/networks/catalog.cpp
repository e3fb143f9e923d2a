#include "partwise/networks/catalog.h"

#include "partwise/base/names.h"

namespace partwise::networks {
namespace {

// A convolutional trunk up to its last ReLU, and how the new head continues it.
struct Backbone {
  std::string net;
  int64_t input_side;
  std::vector<Layer> layers;  // ends with the last convolution's ReLU
  MaxPool last_pool;
  int64_t hidden;  // width of the fully connected layers
  bool hidden_norm;
  double dropout;
};

// Small enough for minutes on two cores. Batch norm below, none at the interpretable layers: there
// it would undo what the filter loss does to a filter's scale.
Backbone tiny() {
  return {"tiny",
          112,
          {
              {"conv1", Convolution{3, 24, 5, 2, 2}},
              {"norm1", BatchNorm{24}},
              {"relu1", Relu{}},
              {"pool1", MaxPool{2, 2}},
              {"conv2", Convolution{24, 48}},
              {"norm2", BatchNorm{48}},
              {"relu2", Relu{}},
              {"pool2", MaxPool{2, 2}},
              {"conv3", Convolution{48, 64}},
              {"norm3", BatchNorm{64}},
              {"relu3", Relu{}},
              {"conv4", Convolution{64, 80}},
              {"relu4", Relu{}},
          },
          MaxPool{2, 2},
          128,
          true,
          0.3};
}

struct Row {
  std::string name;
  Backbone (*make)();
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows{{"tiny", tiny}};
  return kRows;
}

// Records the last convolution, which ends with its ReLU, as a tap.
void tap_last_convolution(Architecture& network, const std::string& role) {
  const auto relu = static_cast<int64_t>(network.layers.size()) - 1;
  const auto& name = network.layers[static_cast<std::size_t>(relu) - 1].name;
  network.taps.push_back({name, role, relu});
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

const std::vector<std::string>& network_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& row : rows()) names.push_back(row.name);
    return names;
  }();
  return kNames;
}

Architecture build_architecture(const std::string& net,
                                Arm arm,
                                int64_t outputs,
                                const parts::PartOptions& parts) {
  const auto backbone = rows()[index_of_name("net", net, network_names())].make();
  const bool masked = arm == Arm::masked || arm == Arm::interpretable;
  Architecture network{backbone.net, backbone.input_side, backbone.layers, {}};
  auto& layers = network.layers;
  tap_last_convolution(network, "top layer of the backbone");
  if (masked && parts.layers != "new") mask_last_tap(network);
  const auto trunk = layer_geometry(layers, network.input_side).back();
  if (arm != Arm::ordinary) {
    layers.push_back({"new", Convolution{trunk.channels, trunk.channels}});
    layers.push_back({"new.relu", Relu{}});
    tap_last_convolution(network, "new layer");
  }
  const bool mask_new = masked && parts.layers != "first";
  const bool after = parts.mask_place == "after-pooling";
  if (mask_new && !after) mask_last_tap(network);
  layers.push_back({"pool", backbone.last_pool});
  if (mask_new && after) mask_last_tap(network);
  layers.push_back({"flatten", Flatten{}});
  const auto features = layer_geometry(layers, network.input_side).back().channels;
  layers.push_back({"fc1", Linear{features, backbone.hidden}});
  if (backbone.hidden_norm) layers.push_back({"fc1.norm", BatchNorm{backbone.hidden}});
  layers.push_back({"fc1.relu", Relu{}});
  layers.push_back({"fc1.dropout", Dropout{backbone.dropout}});
  layers.push_back({"out", Linear{backbone.hidden, outputs}});
  return network;
}

}  // namespace partwise::networks
