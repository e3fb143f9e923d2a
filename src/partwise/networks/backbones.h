#pragma once

#include "partwise/networks/layers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace partwise::networks {

// A convolutional trunk, and how the new head continues it.
struct Backbone {
  int64_t input_side = 224;
  std::vector<Layer> layers;    // ends where the top layer's maps are ready: after its ReLU
  std::string top;              // what the top layer is called
  bool mixed = false;           // skip connections mix its filters: it cannot be interpretable
  int64_t new_filters = 0;      // of the new 3x3 layer
  MaxPool last_pool = {};       // before the fully connected layers
  std::vector<int64_t> hidden;  // their widths
  bool hidden_norm = false;
  double dropout = 0.5;
};

Backbone tiny();  // small enough for minutes on two cores
// As in the paper's experiments: grouped AlexNet with LRN, VGG-M, VGG-S, VGG-16.
Backbone alexnet();
Backbone vgg_m();
Backbone vgg_s();
Backbone vgg_16();
// torchvision's, its layer names included, so that its weights load by name.
Backbone torchvision_alexnet();
Backbone vgg_16_bn();
Backbone squeezenet1_1();
Backbone resnet_18();
Backbone resnet_50();

}  // namespace partwise::networks
