#include "partwise/networks/onnx.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/networks/onnx_mask.h"
#include "partwise/tensors/torch.h"

namespace partwise::networks {
namespace {

constexpr int64_t kBatch = -1;

std::size_t as_index(int64_t index) {
  return static_cast<std::size_t>(index);
}

// Null where the tap has none.
std::shared_ptr<InterpretableImpl> layer_of(const Network& network, const Tap& tap) {
  if (tap.interpretable < 0) return nullptr;
  return network.interpretable().at(
      network.architecture().layers[as_index(tap.interpretable)].name);
}

parts::Peak peak_rule(const Network& network, const Tap& tap) {
  const auto layer = layer_of(network, tap);
  return layer ? layer->options().peak : parts::Peak::argmax;
}

// One layer's nodes, the last of which makes the value `name`. Masks and dropout are not its
// affair.
struct AddLayer {
  OnnxGraph& graph;
  const std::map<std::string, Tensor>& state;
  const Layer& layer;
  const std::vector<std::string>& given;
  const std::string& name;

  // The layer's input, then its parameters as far as it has them.
  std::vector<std::string> with_parameters(const std::vector<std::string>& parameters) const {
    std::vector<std::string> all{given.front()};
    for (const auto& parameter : parameters) {
      const auto found = state.find(layer.name + "." + parameter);
      if (found != state.end()) all.push_back(graph.constant(found->first, found->second));
    }
    return all;
  }

  void operator()(const Convolution& convolution) const {
    const auto padding = convolution.padding;
    graph.add({"Conv",
               with_parameters({"weight", "bias"}),
               name,
               {{"kernel_shape", std::vector{convolution.kernel, convolution.kernel}},
                {"strides", std::vector{convolution.stride, convolution.stride}},
                {"pads", std::vector{padding, padding, padding, padding}},
                {"group", convolution.groups}}});
  }
  void operator()(const BatchNorm&) const {
    graph.add({"BatchNormalization",
               with_parameters({"weight", "bias", "running_mean", "running_var"}),
               name,
               {{"epsilon", 1e-5F}}});
  }
  void operator()(const Relu&) const { graph.add({"Relu", given, name}); }
  void operator()(const MaxPool& pool) const {
    const auto end = pool.padding + pool.padding_end;
    graph.add({"MaxPool",
               given,
               name,
               {{"kernel_shape", std::vector{pool.kernel, pool.kernel}},
                {"strides", std::vector{pool.stride, pool.stride}},
                {"pads", std::vector{pool.padding, pool.padding, end, end}}}});
  }
  void operator()(const ResponseNorm& norm) const {
    // ONNX centres a window of even size on the other side
    expects(norm.size % 2 == 1, "{}: a response norm over {} channels has no ONNX form", name,
            norm.size);
    graph.add({"LRN",
               given,
               name,
               {{"size", norm.size},
                {"alpha", static_cast<float>(norm.alpha)},
                {"beta", static_cast<float>(norm.beta)},
                {"bias", static_cast<float>(norm.k)}}});
  }
  void operator()(const Concatenate&) const {
    graph.add({"Concat", given, name, {{"axis", int64_t{1}}}});
  }
  void operator()(const Add&) const { graph.add({"Add", given, name}); }
  void operator()(const GlobalAverage&) const {
    const auto pooled = graph.add({"GlobalAveragePool", given, name + ".pooled"});
    graph.add({"Flatten", {pooled}, name, {{"axis", int64_t{1}}}});
  }
  void operator()(const Flatten&) const {
    graph.add({"Flatten", given, name, {{"axis", int64_t{1}}}});
  }
  void operator()(const Linear&) const {
    graph.add({"Gemm", with_parameters({"weight", "bias"}), name, {{"transB", int64_t{1}}}});
  }
  // No template for the rest: a new operation must not compile before it has its translation.
  void operator()(const Interpretable&) const {}
  void operator()(const Dropout&) const {}
};

// Layer by layer from a network to a graph.
class Translation {
 public:
  explicit Translation(const Network& network)
      : network_(network), architecture_(network.architecture()), state_(network.state()) {
    graph_.input(
        {"images", false, {kBatch, 3, architecture_.input_side, architecture_.input_side}});
    const auto inputs = layer_inputs(architecture_.layers);
    for (std::size_t i = 0; i < architecture_.layers.size(); ++i) {
      std::vector<std::string> given;
      for (const int64_t from : inputs[i]) {
        given.push_back(from < 0 ? "images" : values_[as_index(from)]);
      }
      translate(i, given);
    }
    graph_.output({"logits", false, {kBatch, network_.geometry().back().channels}});
    for (const auto& tap : architecture_.taps) declare_outputs(tap);
  }

  const OnnxGraph& graph() const { return graph_; }

 private:
  // What the value behind a layer is called: by its role where it is an output of the file.
  std::string value_name(std::size_t index) const {
    const auto at = static_cast<int64_t>(index);
    for (const auto& tap : architecture_.taps) {
      if (at == tap.relu) return tap.name + ".maps";
      if (at == tap.interpretable) return tap.name + ".masked";
    }
    return index + 1 == architecture_.layers.size() ? "logits" : architecture_.layers[index].name;
  }

  void translate(std::size_t index, const std::vector<std::string>& given) {
    const auto& layer = architecture_.layers[index];
    const auto name = value_name(index);
    if (std::holds_alternative<Dropout>(layer.operation)) {
      expects(name == layer.name, "{}: dropout leaves no value to be an output", name);
      values_.push_back(given.front());
      return;
    }
    if (std::holds_alternative<Interpretable>(layer.operation)) {
      add_mask(index, given.front());
    } else {
      std::visit(AddLayer{graph_, state_, layer, given, name}, layer.operation);
    }
    values_.push_back(name);
    for (const auto& tap : architecture_.taps) {
      if (static_cast<int64_t>(index) == tap.relu) add_peaks(tap);
    }
  }

  void add_peaks(const Tap& tap) {
    const auto maps = values_.back();
    const auto side = network_.geometry()[as_index(tap.relu)].side;
    const auto cells =
        onnx_peak_cells(graph_, maps + ".cells", maps, side, peak_rule(network_, tap));
    cells_.emplace(maps, cells);
    onnx_peaks(graph_, tap.name + ".peaks", cells, side);
  }

  // A mask behind a pooling layer looks for its peaks in maps of its own.
  void add_mask(std::size_t index, const std::string& maps) {
    const auto& layer = *network_.interpretable().at(architecture_.layers[index].name);
    const auto side = network_.geometry()[index].side;
    const auto found = cells_.find(maps);
    const auto cells = found != cells_.end() ? found->second
                                             : onnx_peak_cells(graph_, maps + ".cells", maps, side,
                                                               layer.options().peak);
    onnx_masked(graph_, value_name(index), maps, cells, side, layer);
  }

  void declare_outputs(const Tap& tap) {
    const auto& maps = network_.geometry()[as_index(tap.relu)];
    graph_.output({tap.name + ".maps", false, {kBatch, maps.channels, maps.side, maps.side}});
    graph_.output({tap.name + ".peaks", true, {kBatch, maps.channels, 2}});
    if (tap.interpretable < 0) return;
    const auto& masked = network_.geometry()[as_index(tap.interpretable)];
    graph_.output(
        {tap.name + ".masked", false, {kBatch, masked.channels, masked.side, masked.side}});
  }

  const Network& network_;
  const Architecture& architecture_;
  const std::map<std::string, Tensor> state_;
  OnnxGraph graph_;
  std::vector<std::string> values_;           // behind each layer so far
  std::map<std::string, std::string> cells_;  // peak cells by the maps they are of
};

nlohmann::json grid_json(const Geometry& geometry) {
  return {{"side", geometry.side}, {"offset", geometry.offset}, {"stride", geometry.stride}};
}

nlohmann::json tap_json(const Network& network, const Tap& tap) {
  const auto& geometry = network.geometry();
  const auto& maps = geometry[as_index(tap.relu)];
  nlohmann::json json{{"name", tap.name},
                      {"role", tap.role},
                      {"filters", maps.channels},
                      {"maps", grid_json(maps)},
                      {"peak", word_of(peak_rule(network, tap))}};
  if (const auto layer = layer_of(network, tap)) {
    const auto category = layer->filter_category().cpu().contiguous();
    json["masked"] = grid_json(geometry[as_index(tap.interpretable)]);
    json["filter_categories"] = std::vector<int64_t>(
        category.data_ptr<int64_t>(), category.data_ptr<int64_t>() + category.numel());
  }
  return json;
}

}  // namespace

void write_onnx(const std::filesystem::path& path,
                const Network& network,
                const std::map<std::string, std::string>& metadata,
                std::size_t limit) {
  const torch::NoGradGuard no_grad;
  const auto& architecture = network.architecture();
  const auto check = [&](std::size_t bytes) {
    ensure(bytes <= limit,
           "{}: would be {} bytes, more than the {} an ONNX file can hold; train with a smaller "
           "--hidden",
           path.string(), bytes, limit);
  };
  auto all = metadata;
  auto layers = nlohmann::json::array();
  for (const auto& tap : architecture.taps) layers.push_back(tap_json(network, tap));
  all["net"] = architecture.net;
  all["input_side"] = std::to_string(architecture.input_side);
  all["layers"] = layers.dump();
  const Translation translation(network);
  check(translation.graph().constant_bytes());
  const auto bytes = translation.graph().model(architecture.net, all);
  check(bytes.size());
  write_file_atomically(path, bytes);
}

}  // namespace partwise::networks
