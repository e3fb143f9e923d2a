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
};
struct BatchNorm {
  int64_t channels = 0;
};
struct Relu {};
struct MaxPool {
  int64_t kernel = 2;
  int64_t stride = 2;
};
// The mask and, in training, the filter loss of an interpretable conv-layer.
struct PartMask {};
struct Flatten {};
struct Linear {
  int64_t in = 0;
  int64_t out = 0;
};
struct Dropout {
  double drop = 0.5;
};
using Operation =
    std::variant<Convolution, BatchNorm, Relu, MaxPool, PartMask, Flatten, Linear, Dropout>;

// One step of a network. Parameters are <name>.weight and <name>.bias; batch norm adds the running
// statistics <name>.running_mean and <name>.running_var.
struct Layer {
  std::string name;
  Operation operation;
};

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
