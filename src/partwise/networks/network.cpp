#include "partwise/networks/network.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/parallel.h"
#include "partwise/base/random.h"
#include "partwise/interpretable.h"
#include "partwise/kernels/gpu_kernels.h"
#include "partwise/networks/opening.h"
#include "partwise/networks/pooling.h"
#include "partwise/networks/shared_batch.h"
#include "partwise/parts/memory.h"
#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace partwise::networks {
namespace {

// He's normal initialisation, from streams of the parameter's own: one per block, so that the
// blocks of a large weight can be drawn side by side.
Tensor initial_weight(at::IntArrayRef shape, const std::string& name, uint64_t seed) {
  constexpr int64_t kBlock = 1 << 20;
  const uint64_t name_key = std::stoull(content_hash(name), nullptr, 16);
  auto weight = torch::empty(shape);
  const auto fan_in = static_cast<double>(weight.numel() / weight.size(0));
  const double spread = std::sqrt(2.0 / fan_in);
  auto* values = weight.data_ptr<float>();
  const int64_t count = weight.numel();
  parallel_for((count + kBlock - 1) / kBlock, 0, [&](int64_t block) {
    Random random(block == 0 ? derive_seed({seed, name_key})
                             : derive_seed({seed, name_key, static_cast<uint64_t>(block)}));
    for (int64_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) {
      values[i] = static_cast<float>(spread * random.normal());
    }
  });
  return weight;
}

struct WeightShape {
  std::vector<int64_t> operator()(const Convolution& layer) const {
    return {layer.out, layer.in / layer.groups, layer.kernel, layer.kernel};
  }
  std::vector<int64_t> operator()(const Linear& layer) const { return {layer.out, layer.in}; }
  template <typename Other>
  std::vector<int64_t> operator()(const Other&) const {
    return {};
  }
};

bool has_bias(const Operation& operation) {
  const auto* convolution = std::get_if<Convolution>(&operation);
  return !convolution || convolution->bias;
}

Tensor response_norm(const Tensor& input, const ResponseNorm& norm) {
  const auto squares = input.square().unsqueeze(1);
  const auto before = norm.size / 2;
  const auto padded = torch::constant_pad_nd(squares, {0, 0, 0, 0, before, norm.size - 1 - before});
  const auto mean = torch::avg_pool3d(padded, {norm.size, 1, 1}, {1, 1, 1}).squeeze(1);
  return input / (norm.k + norm.alpha * mean).pow(norm.beta);
}

// Runs the layers, each by `step`: of its number, its inputs, and the results of the layers that
// `behind` has for it.
template <typename Step>
Output run(const Architecture& architecture,
           const std::vector<std::vector<int64_t>>& inputs,
           const std::vector<std::vector<int64_t>>& behind,
           const Tensor& images,
           const Step& step) {
  const auto& layers = architecture.layers;
  std::vector<Tensor> results(layers.size());
  const auto results_of = [&](const std::vector<int64_t>& from) {
    std::vector<Tensor> found;
    for (const int64_t i : from)
      found.push_back(i < 0 ? images : results[static_cast<std::size_t>(i)]);
    return found;
  };
  std::vector<int64_t> last_use(layers.size(), -1);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const auto* used : {&inputs[i], &behind[i]}) {
      for (const int64_t from : *used)
        if (from >= 0) last_use[static_cast<std::size_t>(from)] = static_cast<int64_t>(i);
    }
  }
  Output output;
  output.taps.resize(architecture.taps.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto given = results_of(inputs[i]);
    if (std::holds_alternative<Flatten>(layers[i].operation)) output.features = given.front();
    results[i] = step(i, given, results_of(behind[i]));
    const auto index = static_cast<int64_t>(i);
    for (std::size_t t = 0; t < architecture.taps.size(); ++t) {
      const auto& tap = architecture.taps[t];
      if (index == tap.relu) output.taps[t] = {results[i], results[i]};
      if (index == tap.interpretable) output.taps[t].masked = results[i];
    }
    for (const auto* used : {&inputs[i], &behind[i]}) {  // what nobody needs any more is let go
      for (const int64_t from : *used) {
        if (from >= 0 && last_use[static_cast<std::size_t>(from)] == index)
          results[static_cast<std::size_t>(from)].reset();
      }
    }
  }
  output.logits = results.back();
  return output;
}

}  // namespace

Network::Network(Architecture architecture,
                 int64_t categories,
                 const parts::PartOptions& options,
                 uint64_t seed)
    : architecture_(std::move(architecture)),
      inputs_(layer_inputs(architecture_.layers)),
      geometry_(layer_geometry(architecture_.layers, architecture_.input_side)),
      before_relu_(architecture_.layers.size()),
      together_(find_together(architecture_.layers)) {
  for (std::size_t i = 0; i < architecture_.layers.size(); ++i) {
    const auto& name = architecture_.layers[i].name;
    const auto& operation = architecture_.layers[i].operation;
    const auto shape = std::visit(WeightShape{}, operation);
    if (!shape.empty()) {
      parameters_[name + ".weight"] = initial_weight(shape, name, seed).requires_grad_();
      if (has_bias(operation)) {
        parameters_[name + ".bias"] = torch::zeros({shape.front()}).requires_grad_();
      }
    }
    if (const auto* norm = std::get_if<BatchNorm>(&operation)) {
      parameters_[name + ".weight"] = torch::ones({norm->channels}).requires_grad_();
      parameters_[name + ".bias"] = torch::zeros({norm->channels}).requires_grad_();
      statistics_[name + ".running_mean"] = torch::zeros({norm->channels});
      statistics_[name + ".running_var"] = torch::ones({norm->channels});
    }
    if (std::holds_alternative<Interpretable>(operation)) {
      before_relu_[i] = before_relus(architecture_.layers, i);
      interpretable_.emplace(
          name, std::make_shared<InterpretableImpl>(geometry_[i].channels, geometry_[i].side,
                                                    categories, options));
    }
  }
}

// Three operations behave otherwise in training.
Tensor Network::training_step(std::size_t index,
                              const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& before,
                              const Tensor& category) const {
  const auto& layer = architecture_.layers[index];
  const SharedBatch batch{ranks_, category.size(0)};
  if (std::holds_alternative<Interpretable>(layer.operation))
    return interpretable_.at(layer.name)->mask_and_learn(inputs.front(), category, before);
  if (std::holds_alternative<BatchNorm>(layer.operation)) {
    return batch_norm(inputs.front(), parameters_.at(layer.name + ".weight"),
                      parameters_.at(layer.name + ".bias"),
                      statistics_.at(layer.name + ".running_mean"),
                      statistics_.at(layer.name + ".running_var"), batch);
  }
  if (const auto* dropout = std::get_if<Dropout>(&layer.operation)) {
    return networks::dropout(inputs.front(), dropout->drop, batch);
  }
  return plain_step(layer, inputs);
}

Tensor Network::convolve(const Layer& layer, const Tensor& input, bool with_bias) const {
  const auto& operation = std::get<Convolution>(layer.operation);
  const auto bias = parameters_.find(layer.name + ".bias");
  return torch::conv2d(input, parameters_.at(layer.name + ".weight"),
                       with_bias && bias != parameters_.end() ? bias->second : Tensor(),
                       operation.stride, operation.padding, 1, operation.groups);
}

Tensor Network::plain_step(const Layer& layer, const std::vector<Tensor>& inputs) const {
  const auto& input = inputs.front();
  const auto parameter = [&](const char* what) -> Tensor {
    const auto found = parameters_.find(layer.name + what);
    return found == parameters_.end() ? Tensor() : found->second;  // a convolution without bias
  };
  return std::visit(
      [&](const auto& operation) -> Tensor {
        using T = std::decay_t<decltype(operation)>;
        if constexpr (std::is_same_v<T, Convolution>) {
          return convolve(layer, input, true);
        } else if constexpr (std::is_same_v<T, BatchNorm>) {
          return torch::batch_norm(input, parameter(".weight"), parameter(".bias"),
                                   statistics_.at(layer.name + ".running_mean"),
                                   statistics_.at(layer.name + ".running_var"), /*training=*/false,
                                   kNormMemory, kNormEpsilon, /*cudnn_enabled=*/true);
        } else if constexpr (std::is_same_v<T, Relu>) {
          return torch::relu(input);
        } else if constexpr (std::is_same_v<T, MaxPool>) {
          return max_pool(input, operation);
        } else if constexpr (std::is_same_v<T, ResponseNorm>) {
          return response_norm(input, operation);
        } else if constexpr (std::is_same_v<T, Concatenate>) {
          return torch::cat(inputs, 1);
        } else if constexpr (std::is_same_v<T, Add>) {
          return inputs[0] + inputs[1];
        } else if constexpr (std::is_same_v<T, GlobalAverage>) {
          return input.mean({2, 3});
        } else if constexpr (std::is_same_v<T, Flatten>) {
          return input.flatten(1);
        } else if constexpr (std::is_same_v<T, Linear>) {
          return torch::linear(input, parameter(".weight"), parameter(".bias"));
        } else {
          return input;
        }
      },
      layer.operation);
}

Output Network::evaluate(const Tensor& images) const {
  const std::vector<std::vector<int64_t>> none(architecture_.layers.size());
  return run(architecture_, inputs_, none, images,
             [&](std::size_t i, const std::vector<Tensor>& x, const auto&) {
               return evaluate_layer(static_cast<int64_t>(i), x);
             });
}

Tensor Network::evaluate_layer(int64_t index, const std::vector<Tensor>& inputs) const {
  const auto& layer = architecture_.layers[static_cast<std::size_t>(index)];
  if (std::holds_alternative<Interpretable>(layer.operation))
    return interpretable_.at(layer.name)->mask(inputs.front());
  return plain_step(layer, inputs);
}

Output Network::train_on_gpu(const Tensor& images, const Tensor& category) {
  auto behind = before_relu_;
  for (std::size_t i = 0; i < together_.size(); ++i)
    if (!together_[i].opens.empty()) behind[i] = together_[i].opens;
  return run(architecture_, inputs_, behind, images,
             [&](std::size_t i, const std::vector<Tensor>& x,
                 const std::vector<Tensor>& before) -> Tensor {
               const auto& own = together_[i];
               const auto& layer = architecture_.layers[i];
               if (own.left_out) return {};
               if (own.without_bias) return convolve(layer, x.front(), false);
               const auto* pool = std::get_if<MaxPool>(&layer.operation);
               if (own.opens.empty() && pool) return open({{x.front()}, {}, *pool});
               if (own.opens.empty()) return training_step(i, x, before, category);
               std::vector<Tensor> biases;
               for (std::size_t k = 0; k < own.opens.size() && own.with_biases; ++k) {
                 const auto& from = architecture_.layers[static_cast<std::size_t>(own.opens[k])];
                 biases.push_back(parameters_.at(from.name + ".bias"));
               }
               if (std::holds_alternative<Interpretable>(layer.operation))
                 return interpretable_.at(layer.name)->open_and_learn(before, category, biases);
               return open({before, biases, pool ? std::optional(*pool) : std::nullopt});
             });
}

Output Network::train(const Tensor& images, const Tensor& category) {
  if (images.is_cuda() || kernels::gpu_kernels(tensors::gpu_of(images)) != nullptr)
    return train_on_gpu(images, category);
  return run(architecture_, inputs_, before_relu_, images,
             [&](std::size_t i, const std::vector<Tensor>& x, const std::vector<Tensor>& before) {
               return training_step(i, x, before, category);
             });
}

std::string Network::first_non_finite(const Tensor& images, const Tensor& category) {
  const torch::NoGradGuard no_grad;
  std::string found;
  const auto look = [&](const std::string& what, const std::string& layer, const Tensor& values) {
    if (found.empty() && values.defined() && !torch::isfinite(values).all().item<bool>())
      found = fmt::format("the {} of {}", what, layer);
  };
  run(architecture_, inputs_, before_relu_, images,
      [&](std::size_t i, const std::vector<Tensor>& x, const std::vector<Tensor>& before) {
        const auto& layer = architecture_.layers[i];
        for (const char* what : {"weight", "bias"}) {
          const auto own = parameters_.find(layer.name + "." + what);
          if (own != parameters_.end()) look(what, layer.name, own->second);
        }
        auto output = training_step(i, x, before, category);
        look("output", layer.name, output);
        return output;
      });
  return found;
}

std::map<std::string, Tensor> Network::state() const {
  auto state = parameters_;
  state.insert(statistics_.begin(), statistics_.end());
  for (const auto& [name, layer] : interpretable_) {
    for (const auto& buffer : layer->named_buffers())
      state.emplace(name + "." + buffer.key(), *buffer);
  }
  return state;
}

void Network::load_state(const std::map<std::string, Tensor>& state) {
  auto complete = state;
  for (const auto& [name, layer] : interpretable_) parts::Memory::complete(complete, name + ".");
  copy_tensors(complete, "");
}

void Network::copy_tensors(const std::map<std::string, Tensor>& from, const std::string& layer) {
  const torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : state()) {
    if (!layer.empty() && name.substr(0, name.rfind('.')) != layer) continue;
    const auto found = from.find(name);
    ensure(found != from.end(), "the weights lack '{}' of net {}", name, architecture_.net);
    ensure(found->second.sizes() == tensor.sizes(), "the weights have '{}' in another shape", name);
    tensor.copy_(found->second);
  }
}

void Network::load_backbone(const std::map<std::string, Tensor>& state) {
  for (int64_t i = 0; i < architecture_.taps.front().relu; ++i) {
    copy_tensors(state, architecture_.layers[static_cast<std::size_t>(i)].name);
  }
}

void Network::to_device(const std::string& device) {
  // A GPU's convolutions are fastest with the channels innermost.
  const auto order = [&](const Tensor& tensor) {
    return device.starts_with("cuda") && tensor.dim() == 4 ? at::MemoryFormat::ChannelsLast
                                                           : at::MemoryFormat::Contiguous;
  };
  for (auto& [name, tensor] : parameters_) {
    tensor = tensor.detach().to(torch::Device(device)).contiguous(order(tensor)).requires_grad_();
  }
  for (auto& [name, tensor] : statistics_) tensor = tensor.to(torch::Device(device));
  for (auto& [name, layer] : interpretable_) layer->to(torch::Device(device));
}

void Network::to_type(at::ScalarType type) {
  for (auto& [name, tensor] : parameters_) tensor = tensor.detach().to(type).requires_grad_();
  for (auto& [name, tensor] : statistics_) tensor = tensor.to(type);
  for (auto& [name, layer] : interpretable_) layer->to(type);
}

void Network::set_ranks(const tensors::Ranks& ranks) {
  ranks_ = ranks;
  for (auto& [name, layer] : interpretable_) layer->set_ranks(ranks);
}

std::vector<Tensor> Network::parameters_in_order() const {
  std::vector<Tensor> ordered;
  for (const auto& layer : architecture_.layers) {
    for (const char* what : {".weight", ".bias"}) {
      const auto found = parameters_.find(layer.name + what);
      if (found != parameters_.end()) ordered.push_back(found->second);
    }
  }
  return ordered;
}

}  // namespace partwise::networks
