#include "partwise/networks/feature_scale.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

#include <set>

namespace partwise::networks {
namespace {

// The layers with weights that the maps of layer `index` are made of; false where they are mixed.
bool gather_sources(const Architecture& architecture,
                    const std::vector<std::vector<int64_t>>& inputs,
                    int64_t index,
                    std::set<std::string>& sources) {
  if (index < 0) return false;
  const auto& layer = architecture.layers[static_cast<std::size_t>(index)];
  const auto& operation = layer.operation;
  if (std::holds_alternative<Convolution>(operation) ||
      std::holds_alternative<BatchNorm>(operation)) {
    sources.insert(layer.name);
    return true;
  }
  const bool lets_pass =
      std::holds_alternative<Relu>(operation) || std::holds_alternative<MaxPool>(operation) ||
      std::holds_alternative<Dropout>(operation) || std::holds_alternative<Concatenate>(operation);
  if (!lets_pass) return false;
  for (const int64_t from : inputs[static_cast<std::size_t>(index)]) {
    if (!gather_sources(architecture, inputs, from, sources)) return false;
  }
  return true;
}

}  // namespace

double feature_scale(const Network& network, const Tensor& images) {
  const torch::NoGradGuard no_grad;
  const auto maps = network.evaluate(images).taps.front().maps.to(torch::kFloat32);
  return maps.square().mean().sqrt().item<double>();
}

bool scale_features(Network& network, double factor) {
  expects(factor > 0.0, "a scale must be positive");
  const auto& architecture = network.architecture();
  std::set<std::string> sources;
  if (!gather_sources(architecture, layer_inputs(architecture.layers),
                      architecture.taps.front().relu, sources)) {
    return false;
  }
  const torch::NoGradGuard no_grad;
  for (const auto& name : sources) {
    for (const char* what : {".weight", ".bias"}) {
      const auto found = network.parameters().find(name + what);
      if (found != network.parameters().end()) found->second.mul_(factor);
    }
  }
  return true;
}

}  // namespace partwise::networks
