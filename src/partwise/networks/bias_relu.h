#pragma once

#include "partwise/tensors/tensor.h"

namespace partwise::networks {

// relu(x + bias), of a convolution's result on a GPU that nobody else reads: in its place and in
// one pass, as is the way back.  x [batch, channel, n, m]; bias [channel], float32
Tensor bias_relu(const Tensor& x, const Tensor& bias);

// Whether the kernels can: bfloat16 or float32 on a GPU, an even number of channels.
bool can_add_bias_in_relu(const Tensor& x, const Tensor& bias);

}  // namespace partwise::networks
