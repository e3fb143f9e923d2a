#include "partwise/networks/pretrained.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/formats/convert.h"
#include "partwise/networks/shared_batch.h"
#include "partwise/networks/tensor_file.h"
#include "partwise/tensors/torch.h"
#include "partwise/weights/match.h"
#include "partwise/weights/read_weights.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace partwise::networks {
namespace {

using State = std::map<std::string, Tensor>;

constexpr std::array<double, 3> kMean{0.485, 0.456, 0.406};
constexpr std::array<double, 3> kSpread{0.229, 0.224, 0.225};
constexpr std::array<double, 3> kUsualMean255{123.68, 116.779, 103.939};  // RGB; VGG's and Caffe's

Tensor tensor_of(const formats::Array& array) {
  const auto values = formats::floats_of(array);
  return torch::tensor(values, torch::kFloat32).view(array.shape);
}

// "features.24.weight" of torchvision's VGG-16, plain or with batch norm, as ours:
// "conv5_1.weight". Batch norm (eval mode) is folded into the convolution before it.
State from_torchvision_vgg(const State& given, bool normed) {
  State result;
  int64_t index = 0;
  for (const auto& layer : vgg_16().layers) {
    const auto name = fmt::format("features.{}", index);
    if (std::holds_alternative<Convolution>(layer.operation)) {
      const auto get = [&](int64_t at, const char* what) {
        const auto found = given.find(fmt::format("features.{}.{}", at, what));
        return found == given.end() ? Tensor() : found->second;
      };
      auto weight = get(index, "weight");
      auto bias = get(index, "bias");
      if (normed && weight.defined() && bias.defined()) {
        const auto gain = get(index + 1, "weight");
        const auto shift = get(index + 1, "bias");
        const auto mean = get(index + 1, "running_mean");
        const auto variance = get(index + 1, "running_var");
        ensure(gain.defined() && shift.defined() && mean.defined() && variance.defined(),
               "the weights lack batch norm features.{} beside its convolution", index + 1);
        const auto factor = gain / (variance + kNormEpsilon).sqrt();
        weight = weight * factor.view({-1, 1, 1, 1});
        bias = (bias - mean) * factor + shift;
      }
      if (weight.defined()) result[layer.name + ".weight"] = weight;
      if (bias.defined()) result[layer.name + ".bias"] = bias;
      if (normed) ++index;
    }
    ++index;
  }
  return result;
}

std::string plain_name(const std::string& name) {
  auto plain = name.starts_with("module.") ? name.substr(7) : name;
  const auto ends = [&](std::string_view end) { return plain.ends_with(end); };
  const auto cut = [&](std::size_t count, const char* with) {
    return plain.substr(0, plain.size() - count) + with;
  };
  if (ends("_filter")) return cut(7, ".weight");
  if (ends("_bias")) return cut(5, ".bias");
  const bool numbered = plain.size() >= 2 && std::isdigit(plain[plain.size() - 2]) != 0;
  if (numbered && ends("f")) return cut(1, ".weight");
  if (numbered && ends("b")) return cut(1, ".bias");
  return plain;
}

// The mean a 0..255 net subtracts, RGB: of the file's metadata, or the usual one.
std::array<double, 3> mean_of(const formats::NamedArrays& file) {
  auto mean = kUsualMean255;
  const auto found = file.metadata.find("normalization.averageImage");
  if (found == file.metadata.end()) return mean;
  std::array<double, 3> read{};
  const char* text = found->second.c_str();
  for (auto& value : read) {
    char* end = nullptr;
    value = std::strtod(text, &end);
    if (end == text) return mean;
    text = end;
  }
  return read;
}

// w . (x255 - m) + b with x255 = 255 (std z + mean) becomes w' . z + b'.
void adapt_input(Tensor& weight, Tensor& bias, std::array<double, 3> mean, bool reversed) {
  if (reversed) weight = weight.flip({1});
  std::array<double, 3> scale{};
  std::array<double, 3> rest{};
  for (std::size_t c = 0; c < 3; ++c) {
    scale.at(c) = 255.0 * kSpread.at(c);
    rest.at(c) = 255.0 * kMean.at(c) - mean.at(c);
  }
  const auto channel = [&](const std::array<double, 3>& values) {
    return torch::tensor({values[0], values[1], values[2]}, torch::kFloat64).view({1, 3, 1, 1});
  };
  const auto wide = weight.to(torch::kFloat64);
  const auto added = (wide * channel(rest)).sum(at::IntArrayRef({1, 2, 3}));
  bias = (bias.to(torch::kFloat64) + added).to(torch::kFloat32);
  weight = (wide * channel(scale)).to(torch::kFloat32).contiguous();
}

std::vector<weights::Wanted> wanted_by(const Backbone& backbone) {
  std::vector<weights::Wanted> wanted;
  for (const auto& [name, operation, from] : backbone.layers) {
    if (const auto* layer = std::get_if<Convolution>(&operation)) {
      wanted.push_back({name + ".weight",
                        {layer->out, layer->in / layer->groups, layer->kernel, layer->kernel}});
      if (layer->bias) wanted.push_back({name + ".bias", {layer->out}});
    }
    if (const auto* norm = std::get_if<BatchNorm>(&operation)) {
      for (const char* what : {".weight", ".bias", ".running_mean", ".running_var"}) {
        wanted.push_back({name + what, {norm->channels}});
      }
    }
  }
  return wanted;
}

const std::string& first_convolution(const Backbone& backbone) {
  const auto found =
      std::find_if(backbone.layers.begin(), backbone.layers.end(),
                   [](const auto& l) { return std::holds_alternative<Convolution>(l.operation); });
  return found->name;
}

std::string joined(std::string lines) {
  while (!lines.empty() && lines.back() == '\n') lines.pop_back();
  std::string line;
  for (const char letter : lines)
    line += letter == '\n' ? std::string("; ") : std::string(1, letter);
  return line;
}

}  // namespace

Pretrained read_pretrained(const std::string& net,
                           const std::filesystem::path& path,
                           InputConvention convention) {
  const auto backbone = find_backbone(net);
  auto file = weights::read_weights(path);
  std::vector<std::string> notes;

  std::map<std::string, formats::Array> renamed;
  for (const auto& [name, array] : file.arrays) renamed.emplace(plain_name(name), array);
  if (renamed.size() != file.arrays.size()) renamed = file.arrays;
  file.arrays = std::move(renamed);

  Pretrained result;
  const auto plain = [&](const char* name) { return file.arrays.contains(name); };
  if (net == "vgg-16" && plain("features.0.weight") && !plain("conv1_1.weight")) {
    const bool normed = plain("features.1.running_mean");
    State given;
    for (const auto& [name, array] : file.arrays) {
      if (name.starts_with("features.")) given[name] = tensor_of(array);
    }
    result.state = from_torchvision_vgg(given, normed);
    notes.emplace_back(normed ? "torchvision's names, batch norm folded" : "torchvision's names");
    file.arrays = networks::header_of({result.state, {}}).arrays;  // for its shapes
  }

  const auto wanted = wanted_by(backbone);
  const auto match = weights::match(wanted, file);
  ensure(match.complete(), "{}: not the weights of {} ({} of {} arrays fit): {}", path.string(),
         net, match.found, wanted.size(),
         joined(weights::describe({match.found, match.missing, match.misshaped, {}}, 3)));
  State state;
  for (const auto& [name, shape] : wanted) {
    const auto translated = result.state.find(name);
    state[name] =
        translated != result.state.end() ? translated->second : tensor_of(file.arrays.at(name));
  }

  if (convention == InputConvention::automatic) {
    const bool matlab = file.format.starts_with("MatConvNet");
    convention = matlab ? InputConvention::rgb255 : InputConvention::imagenet;
  }
  if (convention != InputConvention::imagenet) {
    const auto& first = first_convolution(backbone);
    ensure(state.contains(first + ".bias"),
           "{}: {} has no bias in its first convolution to fold another input into; convert the "
           "weights to imagenet's input",
           path.string(), net);
    adapt_input(state.at(first + ".weight"), state.at(first + ".bias"), mean_of(file),
                convention == InputConvention::bgr255);
    notes.push_back(fmt::format("input {} folded into {}", word_of(convention), first));
  }
  if (!match.surplus.empty()) notes.push_back(fmt::format("{} others left", match.surplus.size()));
  result.state = std::move(state);
  result.summary =
      fmt::format("{} arrays of {} from {} ({}){}{}", wanted.size(), net, path.string(),
                  file.format, notes.empty() ? "" : "; ", join(notes, "; "));
  return result;
}

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
