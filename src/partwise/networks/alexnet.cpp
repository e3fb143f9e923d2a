#include "partwise/networks/backbones.h"

namespace partwise::networks {

Backbone alexnet() {
  const ResponseNorm norm{5, 1e-4, 0.75, 1.0};
  Backbone net;
  net.input_side = 227;
  net.layers = {
      {"conv1", Convolution{3, 96, 11, 4, 0}},
      {"relu1", Relu{}},
      {"norm1", norm},
      {"pool1", MaxPool{3, 2}},
      {"conv2", Convolution{96, 256, 5, 1, 2, 2}},
      {"relu2", Relu{}},
      {"norm2", norm},
      {"pool2", MaxPool{3, 2}},
      {"conv3", Convolution{256, 384}},
      {"relu3", Relu{}},
      {"conv4", Convolution{384, 384, 3, 1, 1, 2}},
      {"relu4", Relu{}},
      {"conv5", Convolution{384, 256, 3, 1, 1, 2}},
      {"relu5", Relu{}},
  };
  net.top = "conv5";
  net.new_filters = 256;
  net.last_pool = {3, 2};
  net.hidden = {4096, 4096};
  return net;
}

Backbone torchvision_alexnet() {
  Backbone net;
  net.layers = {
      {"features.0", Convolution{3, 64, 11, 4, 2}},
      {"features.1", Relu{}},
      {"features.2", MaxPool{3, 2}},
      {"features.3", Convolution{64, 192, 5, 1, 2}},
      {"features.4", Relu{}},
      {"features.5", MaxPool{3, 2}},
      {"features.6", Convolution{192, 384}},
      {"features.7", Relu{}},
      {"features.8", Convolution{384, 256}},
      {"features.9", Relu{}},
      {"features.10", Convolution{256, 256}},
      {"features.11", Relu{}},
  };
  net.top = "features.10";
  net.new_filters = 256;
  net.last_pool = {3, 2};
  net.hidden = {4096, 4096};
  return net;
}

}  // namespace partwise::networks
