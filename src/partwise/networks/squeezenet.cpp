#include "partwise/networks/backbones.h"

#include <fmt/core.h>

namespace partwise::networks {
namespace {

// A fire module: squeeze to few channels, expand by 1x1 and 3x3 filters side by side.
void append_fire(std::vector<Layer>& layers,
                 const std::string& name,
                 int64_t in,
                 int64_t squeeze,
                 int64_t expand) {
  const auto squeezed = name + ".squeeze_activation";
  layers.push_back({name + ".squeeze", Convolution{in, squeeze, 1, 1, 0}});
  layers.push_back({squeezed, Relu{}});
  layers.push_back({name + ".expand1x1", Convolution{squeeze, expand, 1, 1, 0}, {squeezed}});
  layers.push_back({name + ".expand1x1_activation", Relu{}});
  layers.push_back({name + ".expand3x3", Convolution{squeeze, expand, 3, 1, 1}, {squeezed}});
  layers.push_back({name + ".expand3x3_activation", Relu{}});
  layers.push_back(
      {name, Concatenate{}, {name + ".expand1x1_activation", name + ".expand3x3_activation"}});
}

}  // namespace

Backbone squeezenet1_1() {
  Backbone net;
  net.layers = {{"features.0", Convolution{3, 64, 3, 2, 0}},
                {"features.1", Relu{}},
                {"features.2", MaxPool{3, 2}}};
  append_fire(net.layers, "features.3", 64, 16, 64);
  append_fire(net.layers, "features.4", 128, 16, 64);
  net.layers.push_back({"features.5", MaxPool{3, 2}});
  append_fire(net.layers, "features.6", 128, 32, 128);
  append_fire(net.layers, "features.7", 256, 32, 128);
  net.layers.push_back({"features.8", MaxPool{3, 2}});
  append_fire(net.layers, "features.9", 256, 48, 192);
  append_fire(net.layers, "features.10", 384, 48, 192);
  append_fire(net.layers, "features.11", 384, 64, 256);
  append_fire(net.layers, "features.12", 512, 64, 256);
  net.top = "features.12";
  net.new_filters = 512;
  net.last_pool = {3, 2};
  net.hidden = {512};
  return net;
}

}  // namespace partwise::networks
