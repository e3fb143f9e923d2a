#pragma once

#include "partwise/tensors/tensor.h"

namespace partwise::networks {

// input weight^T + bias. On the CPU the outputs (backward, the inputs) are shared among LibTorch's
// threads in blocks of fixed size: the result does not depend on how many threads there are.
//   input [rows, in], weight [out, in], bias [out] -> [rows, out]
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias);

}  // namespace partwise::networks
