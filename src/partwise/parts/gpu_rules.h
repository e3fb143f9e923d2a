#pragma once

#include "partwise/kernels/gpu_kernels.h"
#include "partwise/parts/diagnostics.h"

namespace partwise::parts {

// What asks for the fits to all templates, by the kernels of kernels/gpu_kernels.h: the logged
// filter loss and the rules but `release`. Nothing here waits for the GPU.

// The fits of a batch; the maps are this rank's, all else that has no batch is the same on all.
struct GpuAllFits {
  kernels::GpuMaps maps;
  tensors::Ranks ranks;
  int images = 0;  // of the whole batch
  kernels::GpuTemplates templates;
  Tensor scale;     // [filter]
  Tensor fits;      // [batch, n*n + 1, filter]
  Tensor inverse;   // [filter]: a fit times this is tr(x T_mu)
  Tensor log_sums;  // [n*n + 1, filter]: log sum_k exp(tr(x_k T_mu))
};

//   images: of the whole batch; scale: Memory::scale after it; inverse: as above
//   since: nothing is computed unless this number is 0; or null
GpuAllFits all_fits_on_gpu(const kernels::GpuMaps& maps,
                           const kernels::GpuTemplates& templates,
                           const tensors::Ranks& ranks,
                           int images,
                           const Tensor& scale,
                           const Tensor& inverse,
                           const float* since);

// One rank: adds the means of the filter loss and its terms to the sums where the GPU's own count
// says so. Every batch asks the same of the GPU, so that one recording serves all.
void watch_on_gpu(const GpuAllFits& all, const GpuWatching& watching);

// Means over the filters of the filter loss and its three terms (parts/filter_loss.h), [4] float64.
Tensor mean_loss_on_gpu(const GpuAllFits& all);

// What the rules' kernels write and read until the backward pass is done; some are undefined.
// `dense` is of this rank's images, the others are of the whole batch.
struct GpuRuleNumbers {
  Tensor log_partition;  // [n*n + 1, filter]
  Tensor log_marginals;  // [batch, filter]: log N p(x)
  Tensor dense;          // [batch, n, n, filter]: dLoss_f/dx
  Tensor sizes;          // [batch, filter]: its norm over each map
  Tensor along;          // [batch, filter]: sum x dLoss_f/dx
};

// Rules paper, paper_all and exact of a batch that the memory has just seen, up to what `weigh` is
// then given.  mean_all [filter]: Memory::mean_peak_all
GpuRuleNumbers apply_rule_on_gpu(const GpuAllFits& all,
                                 const Tensor& mean_all,
                                 Memory& memory,
                                 const PartOptions& options,
                                 kernels::GpuWeigh& weigh);

}  // namespace partwise::parts
