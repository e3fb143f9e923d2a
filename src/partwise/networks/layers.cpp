#include "partwise/networks/layers.h"

#include "partwise/base/error.h"

namespace partwise::networks {
namespace {

struct Window {
  int64_t kernel;
  int64_t stride;
  int64_t padding;
};

Geometry slide(Geometry before, const Window& window) {
  const auto kernel = static_cast<double>(window.kernel);
  Geometry after = before;
  after.side = (before.side + 2 * window.padding - window.kernel) / window.stride + 1;
  after.offset += before.stride * ((kernel - 1.0) / 2.0 - static_cast<double>(window.padding));
  after.stride *= static_cast<double>(window.stride);
  after.receptive_field += before.stride * (kernel - 1.0);
  expects(after.side >= 1, "a {}-cell window does not fit a map of side {}", window.kernel,
          before.side);
  return after;
}

struct Next {
  Geometry before;

  Geometry operator()(const Convolution& layer) const {
    expects(layer.in == before.channels, "convolution expects {} channels, gets {}", layer.in,
            before.channels);
    auto after = slide(before, {layer.kernel, layer.stride, layer.padding});
    after.channels = layer.out;
    return after;
  }
  Geometry operator()(const MaxPool& layer) const {
    return slide(before, {layer.kernel, layer.stride, 0});
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

std::vector<Geometry> layer_geometry(const std::vector<Layer>& layers, int64_t input_side) {
  std::vector<Geometry> result;
  Geometry current;
  current.side = input_side;
  for (const auto& layer : layers) {
    current = std::visit(Next{current}, layer.operation);
    result.push_back(current);
  }
  return result;
}

}  // namespace partwise::networks
