#pragma once

#include "partwise/kernels/gpu_kernels.h"
#include "partwise/parts/memory.h"

namespace partwise::parts {

// What asks for the fits to all templates, by the kernels of kernels/gpu_kernels.h: the logged filter
// loss and the rules but `release`. Nothing here waits for the GPU.

// The fits of a batch.
struct GpuAllFits {
  kernels::GpuMaps maps;
  kernels::GpuTemplates templates;
  Tensor fits;      // [batch, n*n + 1, filter]
  Tensor inverse;   // [filter]: a fit times this is tr(x T_mu)
  Tensor log_sums;  // [n*n + 1, filter]: log sum_k exp(tr(x_k T_mu))
};

//   scale [filter]: Memory::scale after the batch
GpuAllFits all_fits_on_gpu(const kernels::GpuMaps& maps,
                           const kernels::GpuTemplates& templates,
                           const Tensor& scale,
                           const PartOptions& options);

// Means over the filters of the filter loss and its three terms (parts/filter_loss.h), [4] float64.
Tensor mean_loss_on_gpu(const GpuAllFits& all);

}  // namespace partwise::parts
