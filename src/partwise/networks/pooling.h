#pragma once

#include "partwise/networks/layers.h"
#include "partwise/tensors/tensor.h"

namespace partwise::networks {

// The highest value of every window.  input [batch, channel, n, m]. Windows of 2 x 2 cells of
// float32 on a CPU have kernels of their own: LibTorch's take eight times as long there.
Tensor max_pool(const Tensor& input, const MaxPool& pool);

}  // namespace partwise::networks
