#include "partwise/networks/backbones.h"

#include <fmt/core.h>

namespace partwise::networks {
namespace {

const std::vector<std::vector<int64_t>> kBlocks{
    {64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}};

void append_top_three(std::vector<Layer>& layers) {
  for (const int64_t number : {3, 4, 5}) {
    layers.push_back({fmt::format("conv{}", number), Convolution{number == 3 ? 256 : 512, 512}});
    layers.push_back({fmt::format("relu{}", number), Relu{}});
  }
}

}  // namespace

Backbone vgg_m() {
  const ResponseNorm norm{5, 5e-4, 0.75, 2.0};
  Backbone net;
  net.layers = {
      {"conv1", Convolution{3, 96, 7, 2, 0}},
      {"relu1", Relu{}},
      {"norm1", norm},
      {"pool1", MaxPool{3, 2}},  //
      {"conv2", Convolution{96, 256, 5, 2, 1}},
      {"relu2", Relu{}},
      {"norm2", norm},
      {"pool2", MaxPool{3, 2, 0, 1}},
  };
  append_top_three(net.layers);
  net.top = "conv5";
  net.new_filters = 512;
  net.last_pool = {3, 2};
  net.hidden = {4096, 4096};
  return net;
}

Backbone vgg_s() {
  Backbone net;
  net.layers = {
      {"conv1", Convolution{3, 96, 7, 2, 0}},
      {"relu1", Relu{}},
      {"norm1", ResponseNorm{5, 5e-4, 0.75, 2.0}},
      {"pool1", MaxPool{3, 3, 0, 2}},
      {"conv2", Convolution{96, 256, 5, 1, 0}},
      {"relu2", Relu{}},
      {"pool2", MaxPool{2, 2, 0, 1}},
  };
  append_top_three(net.layers);
  net.top = "conv5";
  net.new_filters = 512;
  net.last_pool = {3, 3, 0, 1};
  net.hidden = {4096, 4096};
  return net;
}

Backbone vgg_16() {
  Backbone net;
  int64_t channels = 3;
  for (std::size_t block = 0; block < kBlocks.size(); ++block) {
    for (std::size_t i = 0; i < kBlocks[block].size(); ++i) {
      const auto name = fmt::format("{}_{}", block + 1, i + 1);
      net.layers.push_back({"conv" + name, Convolution{channels, kBlocks[block][i]}});
      net.layers.push_back({"relu" + name, Relu{}});
      channels = kBlocks[block][i];
    }
    if (block + 1 < kBlocks.size()) {
      net.layers.push_back({fmt::format("pool{}", block + 1), MaxPool{2, 2}});
    }
  }
  net.top = "conv5_3";
  net.new_filters = 512;
  net.hidden = {4096, 4096};
  return net;
}

Backbone vgg_16_bn() {
  Backbone net;
  int64_t channels = 3;
  const auto append = [&](const Operation& operation) {
    net.layers.push_back({fmt::format("features.{}", net.layers.size()), operation});
  };
  for (std::size_t block = 0; block < kBlocks.size(); ++block) {
    for (const int64_t width : kBlocks[block]) {
      append(Convolution{channels, width});
      append(BatchNorm{width});
      append(Relu{});
      channels = width;
    }
    if (block + 1 < kBlocks.size()) append(MaxPool{2, 2});
  }
  net.top = "features.40";
  net.new_filters = 512;
  net.hidden = {4096, 4096};
  return net;
}

}  // namespace partwise::networks
