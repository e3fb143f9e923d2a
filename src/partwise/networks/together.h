#pragma once

#include "partwise/networks/layers.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace partwise::networks {

// The layers whose results the ReLUs in front of a layer are given: one, or those of the branches
// that are put side by side there. Empty where ReLUs are not all there is between.
std::vector<int64_t> before_relus(const std::vector<Layer>& layers, std::size_t layer);

// What a GPU does in one go in training. ReLUs, and what puts them side by side, are left to the
// interpretable layer or the pooling behind them, or ReLUs to what puts them side by side; the bias
// of a convolution is left to whoever does the work of the ReLU behind it. Only what nobody else
// reads is left to others.
struct Together {
  bool left_out = false;            // its work is done by a layer behind it
  std::vector<int64_t> opens = {};  // does the work of the ReLUs behind these layers
  bool with_biases = false;         // and adds their biases, too
  bool without_bias = false;        // a convolution whose bias is added by whoever opens it
};

// Of every layer.
std::vector<Together> find_together(const std::vector<Layer>& layers);

}  // namespace partwise::networks
