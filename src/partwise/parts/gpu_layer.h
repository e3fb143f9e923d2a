#pragma once

#include "partwise/parts/diagnostics.h"

#include <memory>
#include <vector>

namespace partwise::parts {

// An interpretable layer by the kernels of kernels/gpu_kernels.h.

// What one training pass is given.
struct GpuPass {
  // The maps, or with `through_relu` what the ReLUs in front of them were given: pieces whose
  // filters follow one another, [batch, filter, n, n].
  std::vector<Tensor> pieces;
  std::vector<Tensor> biases;  // one for each, [filter] float32, to be added first; or none
  bool through_relu = false;
  Tensor labels;  // [batch] int64, of all ranks' images; the maps are this one's
  double mask_share = 1.0;
  double strength = 0.0;   // 0: the mask alone
  Tensor category_shares;  // [category] float32: omega by these; or undefined
};

// Maps of bfloat16 or float32 on a GPU.
bool can_fuse_on_gpu(const std::vector<Tensor>& pieces, const Memory& memory);

// x max(U_mu-hat, 0), without a gradient.
Tensor mask_on_gpu(const Tensor& maps, const Memory& memory, const PartOptions& options);

// Interpretable::mask_and_learn; with `through_relu` of relu(cat(pieces + biases)), whose gradient
// then includes what filter_push.h lets pass a closed ReLU.
Tensor mask_and_learn_on_gpu(const GpuPass& pass,
                             Memory& memory,
                             const PartOptions& options,
                             const tensors::Ranks& ranks,
                             Diagnostics& diagnostics);

}  // namespace partwise::parts
