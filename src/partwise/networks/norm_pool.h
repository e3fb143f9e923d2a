#pragma once

#include "partwise/tensors/tensor.h"

namespace partwise::networks {

// In training on a CPU: batch norm by the batch's mean and variance (kNormMemory, kNormEpsilon of
// shared_batch.h), ReLU and, with `pool`, max pooling of 2 x 2 cells, as one operation. It reads its
// input three times and keeps a byte per cell, where the operators one by one write every
// intermediate. Equal to them but for rounding, on any number of threads the same.
//   input [rows, channel, n, n] float32, the rest [channel]; updates the running ones in place
//   -> [rows, channel, n, n], or [rows, channel, n / 2, n / 2] (an odd last row or column is left)
Tensor norm_relu_pool(const Tensor& input,
                      const Tensor& weight,
                      const Tensor& bias,
                      const Tensor& running_mean,
                      const Tensor& running_variance,
                      bool pool);

}  // namespace partwise::networks
