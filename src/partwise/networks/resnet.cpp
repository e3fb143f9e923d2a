#include "partwise/networks/backbones.h"

#include <fmt/core.h>

namespace partwise::networks {
namespace {

class Builder {
 public:
  std::vector<Layer> layers;

  void convolve(const std::string& conv,
                const std::string& norm,
                const Convolution& shape,
                const std::string& from = "") {
    auto plain = shape;
    plain.bias = false;
    layers.push_back({conv, plain, from.empty() ? std::vector<std::string>{} : std::vector{from}});
    layers.push_back({norm, BatchNorm{shape.out}});
  }

  // One residual block: `widths` through its convolutions, added to its input (projected where the
  // shapes differ).
  void block(const std::string& name, int64_t in, const std::vector<Convolution>& convolutions) {
    const auto input = layers.back().name;
    int64_t stride = 1;
    for (std::size_t i = 0; i < convolutions.size(); ++i) {
      const auto number = i + 1;
      convolve(fmt::format("{}.conv{}", name, number), fmt::format("{}.bn{}", name, number),
               convolutions[i]);
      stride *= convolutions[i].stride;
      if (number < convolutions.size()) {
        layers.push_back({fmt::format("{}.relu{}", name, number), Relu{}});
      }
    }
    const auto branch = layers.back().name;
    const auto out = convolutions.back().out;
    auto shortcut = input;
    if (stride != 1 || in != out) {
      convolve(name + ".downsample.0", name + ".downsample.1", Convolution{in, out, 1, stride, 0},
               input);
      shortcut = name + ".downsample.1";
    }
    layers.push_back({name + ".add", Add{}, {branch, shortcut}});
    layers.push_back({name, Relu{}});
  }
};

Backbone resnet(const std::vector<int64_t>& depths, bool bottleneck) {
  Builder builder;
  builder.convolve("conv1", "bn1", Convolution{3, 64, 7, 2, 3});
  builder.layers.push_back({"relu", Relu{}});
  builder.layers.push_back({"maxpool", MaxPool{3, 2, 1, 0}});
  int64_t channels = 64;
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    const int64_t width = 64 << stage;
    const int64_t out = bottleneck ? 4 * width : width;
    for (int64_t i = 0; i < depths[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      const auto name = fmt::format("layer{}.{}", stage + 1, i);
      if (bottleneck) {
        builder.block(name, channels,
                      {Convolution{channels, width, 1, 1, 0},
                       Convolution{width, width, 3, stride, 1}, Convolution{width, out, 1, 1, 0}});
      } else {
        builder.block(name, channels,
                      {Convolution{channels, width, 3, stride, 1}, Convolution{width, width}});
      }
      channels = out;
    }
  }
  Backbone net;
  net.layers = std::move(builder.layers);
  net.top = net.layers.back().name;
  net.mixed = true;
  net.new_filters = 512;
  net.last_pool = {3, 2};
  net.hidden = {512};
  return net;
}

}  // namespace

Backbone resnet_18() {
  return resnet({2, 2, 2, 2}, false);
}

Backbone resnet_50() {
  return resnet({3, 4, 6, 3}, true);
}

}  // namespace partwise::networks
