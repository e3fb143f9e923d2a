#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace partwise::networks {

struct Convolution {
  int64_t in = 0;
  int64_t out = 0;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 1;
  int64_t groups = 1;
  bool bias = true;
};
struct BatchNorm {
  int64_t channels = 0;
};
struct Relu {};
struct MaxPool {
  int64_t kernel = 2;
  int64_t stride = 2;
  int64_t padding = 0;      // on all four sides
  int64_t padding_end = 0;  // more at the bottom and on the right

  bool operator==(const MaxPool&) const = default;
};
// Across channels: y_c = x_c (k + alpha / size sum x_c'^2)^-beta over the `size` channels around c.
// (MatConvNet's alpha is not divided by size.)
struct ResponseNorm {
  int64_t size = 5;
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1.0;
};
struct Concatenate {};  // of channels
struct Add {};
struct GlobalAverage {};  // over cells: [batch, channel]
struct Interpretable {};  // partwise::Interpretable: the mask and, in training, the filter loss
struct Flatten {};
struct Linear {
  int64_t in = 0;
  int64_t out = 0;
};
struct Dropout {
  double drop = 0.5;
};
using Operation = std::variant<Convolution,
                               BatchNorm,
                               Relu,
                               MaxPool,
                               ResponseNorm,
                               Concatenate,
                               Add,
                               GlobalAverage,
                               Interpretable,
                               Flatten,
                               Linear,
                               Dropout>;

// One step of a network. Parameters are <name>.weight and <name>.bias; batch norm adds the running
// statistics <name>.running_mean and <name>.running_var. It takes the outputs of the layers named
// in `from`, which come before it; where that is empty, of the layer before.
struct Layer {
  std::string name;
  Operation operation;
  std::vector<std::string> from = {};
};

// For every layer, the indices of the layers it takes its input from; -1 is the image.
std::vector<std::vector<int64_t>> layer_inputs(const std::vector<Layer>& layers);

// Where the units of a layer's maps lie in the input, and what they can see: one recursion over the
// layers.
struct Geometry {
  int64_t channels = 3;
  int64_t side = 0;
  double offset = 0.0;           // input pixel (0-based) of the centre of cell (0, 0)
  double stride = 1.0;           // input pixels from cell to cell
  double receptive_field = 1.0;  // theoretical, input pixels
};

// The geometry behind every layer of the list, in order; fully connected layers have side 0.
std::vector<Geometry> layer_geometry(const std::vector<Layer>& layers, int64_t input_side);

}  // namespace partwise::networks
