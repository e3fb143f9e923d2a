#pragma once

#include "partwise/networks/layers.h"
#include "partwise/tensors/tensor.h"

#include <optional>
#include <vector>

namespace partwise::networks {

// max_pool(cat(relu(piece + bias))) of convolutions' results on a GPU that nobody else reads, in one
// pass, as is the way back. One piece alone that is not pooled is opened in its place. Without
// biases there is no ReLU either: the maps are pooled, whatever they are.
//   pieces: [batch, channel, n, m], one or several; biases: [channel] float32, one for each, or none
struct Opening {
  std::vector<Tensor> pieces;
  std::vector<Tensor> biases;
  std::optional<MaxPool> pool = {};
};

// By the kernels of kernels/gpu_kernels.h where they can (bfloat16 or float32 on a GPU, an even
// number of channels, up to four pieces), else by LibTorch's operators.
Tensor open(const Opening& opening);
bool can_open_in_one_pass(const Opening& opening);

}  // namespace partwise::networks
