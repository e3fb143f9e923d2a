#include "partwise/networks/backbones.h"

namespace partwise::networks {

// Batch norm below, none at the interpretable layers: there it would undo what the filter loss does
// to a filter's scale.
Backbone tiny() {
  Backbone net;
  net.input_side = 112;
  net.layers = {
      {"conv1", Convolution{3, 24, 5, 2, 2}},
      {"norm1", BatchNorm{24}},
      {"relu1", Relu{}},
      {"pool1", MaxPool{2, 2}},
      {"conv2", Convolution{24, 48}},
      {"norm2", BatchNorm{48}},
      {"relu2", Relu{}},
      {"pool2", MaxPool{2, 2}},
      {"conv3", Convolution{48, 64}},
      {"norm3", BatchNorm{64}},
      {"relu3", Relu{}},
      {"conv4", Convolution{64, 80}},
      {"relu4", Relu{}},
  };
  net.top = "conv4";
  net.new_filters = 80;
  net.hidden = {128};
  net.hidden_norm = true;
  net.dropout = 0.3;
  return net;
}

}  // namespace partwise::networks
