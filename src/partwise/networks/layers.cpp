#include "partwise/networks/layers.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <map>

namespace partwise::networks {
namespace {

struct Window {
  int64_t kernel;
  int64_t stride;
  int64_t padding;
  int64_t padding_end;
};

Geometry slide(Geometry before, const Window& window) {
  const auto kernel = static_cast<double>(window.kernel);
  const auto padded = before.side + 2 * window.padding + window.padding_end;
  expects(padded >= window.kernel, "a {}-cell window does not fit a map of side {}", window.kernel,
          before.side);
  Geometry after = before;
  after.side = (padded - window.kernel) / window.stride + 1;
  after.offset += before.stride * ((kernel - 1.0) / 2.0 - static_cast<double>(window.padding));
  after.stride *= static_cast<double>(window.stride);
  after.receptive_field += before.stride * (kernel - 1.0);
  return after;
}

// Maps of several branches, cell by cell: they must lie on one grid; the widest view counts.
Geometry geometry_of_joined(const std::vector<Geometry>& branches, bool stack) {
  Geometry joined = branches.front();
  for (std::size_t i = 1; i < branches.size(); ++i) {
    const auto& other = branches[i];
    expects(other.side == joined.side && other.stride == joined.stride &&
                other.offset == joined.offset && (stack || other.channels == joined.channels),
            "branches of sides {} and {} do not join", joined.side, other.side);
    if (stack) joined.channels += other.channels;
    joined.receptive_field = std::max(joined.receptive_field, other.receptive_field);
  }
  return joined;
}

struct Next {
  const std::vector<Geometry>& branches;
  const Geometry& before = branches.front();

  Geometry operator()(const Convolution& layer) const {
    expects(layer.in == before.channels, "convolution expects {} channels, gets {}", layer.in,
            before.channels);
    auto after = slide(before, {layer.kernel, layer.stride, layer.padding, 0});
    after.channels = layer.out;
    return after;
  }
  Geometry operator()(const MaxPool& layer) const {
    return slide(before, {layer.kernel, layer.stride, layer.padding, layer.padding_end});
  }
  Geometry operator()(const Concatenate&) const { return geometry_of_joined(branches, true); }
  Geometry operator()(const Add&) const { return geometry_of_joined(branches, false); }
  Geometry operator()(const GlobalAverage&) const {
    Geometry after = before;
    after.side = 0;
    return after;
  }
  Geometry operator()(const Flatten&) const {
    Geometry after = before;
    after.channels = before.channels * before.side * before.side;
    after.side = 0;
    return after;
  }
  Geometry operator()(const Linear& layer) const {
    expects(layer.in == before.channels, "linear layer expects {} values, gets {}", layer.in,
            before.channels);
    Geometry after = before;
    after.channels = layer.out;
    return after;
  }
  template <typename Other>
  Geometry operator()(const Other&) const {
    return before;
  }
};

}  // namespace

std::vector<std::vector<int64_t>> layer_inputs(const std::vector<Layer>& layers) {
  std::map<std::string, int64_t> place;
  std::vector<std::vector<int64_t>> inputs;
  for (const auto& layer : layers) {
    std::vector<int64_t> own;
    for (const auto& name : layer.from) {
      const auto found = place.find(name);
      expects(found != place.end(), "layer {} takes from {}, which is not before it", layer.name,
              name);
      own.push_back(found->second);
    }
    const auto index = static_cast<int64_t>(inputs.size());
    if (own.empty()) own.push_back(index - 1);
    inputs.push_back(std::move(own));
    expects(place.emplace(layer.name, index).second, "two layers are called {}", layer.name);
  }
  return inputs;
}

std::vector<Geometry> layer_geometry(const std::vector<Layer>& layers, int64_t input_side) {
  const auto inputs = layer_inputs(layers);
  Geometry image;
  image.side = input_side;
  std::vector<Geometry> result;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::vector<Geometry> branches;
    for (const int64_t from : inputs[i]) {
      branches.push_back(from < 0 ? image : result[static_cast<std::size_t>(from)]);
    }
    result.push_back(std::visit(Next{branches}, layers[i].operation));
  }
  return result;
}

}  // namespace partwise::networks
