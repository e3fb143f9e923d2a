#pragma once

#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"

namespace partwise::networks {

// A training batch of so many images, of which every rank sees its share.
struct SharedBatch {
  tensors::Ranks ranks;
  int64_t images = 0;
};

constexpr double kNormMemory = 0.1;  // weight of a batch in the running statistics
constexpr double kNormEpsilon = 1e-5;

// Batch norm by mean and variance of the whole batch; updates the running ones in place.
//   input [rows, channel, ...]; the rest [channel]
Tensor batch_norm(const Tensor& input,
                  const Tensor& weight,
                  const Tensor& bias,
                  const Tensor& running_mean,
                  const Tensor& running_variance,
                  const SharedBatch& batch);

// Drops a value with probability `drop`. Several ranks each draw the whole batch's choices from
// their equally seeded generators and take their own rows: on the CPU the very choices of one
// process, on CUDA choices of the same kind.
Tensor dropout(const Tensor& input, double drop, const SharedBatch& batch);

}  // namespace partwise::networks
