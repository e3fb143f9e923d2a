#include "partwise/networks/network.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/tensors/torch.h"

#include <cmath>
#include <string_view>

namespace partwise::networks {
namespace {

// He's normal initialisation, from a stream of the parameter's own.
Tensor initial_weight(at::IntArrayRef shape, const std::string& name, uint64_t seed) {
  const uint64_t name_key = std::stoull(content_hash(name), nullptr, 16);
  Random random(derive_seed({seed, name_key}));
  auto weight = torch::empty(shape);
  const auto fan_in = static_cast<double>(weight.numel() / weight.size(0));
  const double spread = std::sqrt(2.0 / fan_in);
  auto* values = weight.data_ptr<float>();
  for (int64_t i = 0; i < weight.numel(); ++i) {
    values[i] = static_cast<float>(spread * random.normal());
  }
  return weight;
}

struct WeightShape {
  std::vector<int64_t> operator()(const Convolution& layer) const {
    return {layer.out, layer.in, layer.kernel, layer.kernel};
  }
  std::vector<int64_t> operator()(const Linear& layer) const { return {layer.out, layer.in}; }
  template <typename Other>
  std::vector<int64_t> operator()(const Other&) const {
    return {};
  }
};

// Runs the layers; `mask` decides what a PartMask does.
template <typename Step, typename Mask>
Output run(const Architecture& architecture, const Tensor& images, Step&& step, Mask&& mask) {
  Output output;
  output.taps.resize(architecture.taps.size());
  Tensor current = images;
  for (std::size_t i = 0; i < architecture.layers.size(); ++i) {
    const auto& layer = architecture.layers[i];
    current = std::holds_alternative<PartMask>(layer.operation) ? mask(layer, current)
                                                                : step(layer, current);
    for (std::size_t t = 0; t < architecture.taps.size(); ++t) {
      const auto& tap = architecture.taps[t];
      const auto index = static_cast<int64_t>(i);
      if (index == tap.relu) output.taps[t] = {current, current};
      if (index == tap.mask) output.taps[t].masked = current;
    }
  }
  output.logits = current;
  return output;
}

}  // namespace

Network::Network(Architecture architecture,
                 int64_t categories,
                 const parts::PartOptions& options,
                 uint64_t seed)
    : architecture_(std::move(architecture)),
      geometry_(layer_geometry(architecture_.layers, architecture_.input_side)) {
  for (std::size_t i = 0; i < architecture_.layers.size(); ++i) {
    const auto& [name, operation] = architecture_.layers[i];
    const auto shape = std::visit(WeightShape{}, operation);
    if (!shape.empty()) {
      parameters_[name + ".weight"] = initial_weight(shape, name, seed).requires_grad_();
      parameters_[name + ".bias"] = torch::zeros({shape.front()}).requires_grad_();
    }
    if (const auto* norm = std::get_if<BatchNorm>(&operation)) {
      parameters_[name + ".weight"] = torch::ones({norm->channels}).requires_grad_();
      parameters_[name + ".bias"] = torch::zeros({norm->channels}).requires_grad_();
      statistics_[name + ".running_mean"] = torch::zeros({norm->channels});
      statistics_[name + ".running_var"] = torch::ones({norm->channels});
    }
    if (std::holds_alternative<PartMask>(operation)) {
      interpretable_.emplace(
          name,
          parts::InterpretableLayer(geometry_[i].channels, geometry_[i].side, categories, options));
    }
  }
}

Tensor Network::plain_step(const Layer& layer, const Tensor& input, bool training) const {
  const auto parameter = [&](const char* what) -> const Tensor& {
    return parameters_.at(layer.name + what);
  };
  return std::visit(
      [&](const auto& operation) -> Tensor {
        using T = std::decay_t<decltype(operation)>;
        if constexpr (std::is_same_v<T, Convolution>) {
          return torch::conv2d(input, parameter(".weight"), parameter(".bias"), operation.stride,
                               operation.padding);
        } else if constexpr (std::is_same_v<T, BatchNorm>) {
          return torch::batch_norm(input, parameter(".weight"), parameter(".bias"),
                                   statistics_.at(layer.name + ".running_mean"),
                                   statistics_.at(layer.name + ".running_var"), training, 0.1, 1e-5,
                                   /*cudnn_enabled=*/true);
        } else if constexpr (std::is_same_v<T, Relu>) {
          return torch::relu(input);
        } else if constexpr (std::is_same_v<T, MaxPool>) {
          return torch::max_pool2d(input, operation.kernel, operation.stride);
        } else if constexpr (std::is_same_v<T, Flatten>) {
          return input.flatten(1);
        } else if constexpr (std::is_same_v<T, Linear>) {
          return torch::linear(input, parameter(".weight"), parameter(".bias"));
        } else if constexpr (std::is_same_v<T, Dropout>) {
          return torch::dropout(input, operation.drop, training);
        } else {
          return input;
        }
      },
      layer.operation);
}

Output Network::evaluate(const Tensor& images) const {
  return run(
      architecture_, images,
      [&](const Layer& layer, const Tensor& x) { return plain_step(layer, x, false); },
      [&](const Layer& layer, const Tensor& x) { return interpretable_.at(layer.name).mask(x); });
}

Output Network::train(const Tensor& images, const Tensor& category) {
  return run(
      architecture_, images,
      [&](const Layer& layer, const Tensor& x) { return plain_step(layer, x, true); },
      [&](const Layer& layer, const Tensor& x) {
        return interpretable_.at(layer.name).mask_and_learn(x, category);
      });
}

std::map<std::string, Tensor> Network::state() const {
  auto state = parameters_;
  state.insert(statistics_.begin(), statistics_.end());
  for (const auto& [name, layer] : interpretable_) {
    for (const auto& [key, tensor] : layer.state()) state.emplace(name + "." + key, tensor);
  }
  return state;
}

void Network::load_state(const std::map<std::string, Tensor>& state) {
  copy_tensors(state, "");
  for (auto& [name, layer] : interpretable_) {
    std::map<std::string, Tensor> own;
    for (const auto& [key, tensor] : state) {
      if (key.starts_with(name + ".")) own.emplace(key.substr(name.size() + 1), tensor);
    }
    layer.load_state(own);
  }
}

void Network::copy_tensors(const std::map<std::string, Tensor>& state, const std::string& layer) {
  const torch::NoGradGuard no_grad;
  for (auto* own : {&parameters_, &statistics_}) {
    for (auto& [name, tensor] : *own) {
      if (!layer.empty() && name.substr(0, name.rfind('.')) != layer) continue;
      const auto found = state.find(name);
      ensure(found != state.end(), "the weights lack '{}' of net {}", name, architecture_.net);
      ensure(found->second.sizes() == tensor.sizes(), "the weights have '{}' in another shape",
             name);
      tensor.copy_(found->second);
    }
  }
}

void Network::load_backbone(const std::map<std::string, Tensor>& state) {
  for (int64_t i = 0; i < architecture_.taps.front().relu; ++i) {
    copy_tensors(state, architecture_.layers[static_cast<std::size_t>(i)].name);
  }
}

void Network::to_device(const std::string& device) {
  for (auto& [name, tensor] : parameters_) {
    tensor = tensor.detach().to(torch::Device(device)).requires_grad_();
  }
  for (auto& [name, tensor] : statistics_) tensor = tensor.to(torch::Device(device));
  for (auto& [name, layer] : interpretable_) layer.to_device(device);
}

}  // namespace partwise::networks
