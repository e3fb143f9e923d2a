#include "partwise/tensors/fused_updates.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

#include <torch/version.h>

namespace partwise::tensors {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)

bool has_fused_updates(const Tensor& parameter) {
  return parameter.is_cuda();
}

void fused_sgd(const FusedGroup& group, double momentum) {
  torch::_fused_sgd_(group.parameters, group.gradients, group.first, group.decay, momentum,
                     group.rate, /*dampening=*/0.0, /*nesterov=*/false, /*maximize=*/false,
                     /*is_first_step=*/false, group.too_large, group.broken);
}

void fused_adamw(const FusedGroup& group,
                 double first_memory,
                 double second_memory,
                 double epsilon,
                 const Tensor& steps) {
  const std::vector<Tensor> counts(group.parameters.size(), steps);
  torch::_fused_adamw_(group.parameters, group.gradients, group.first, group.second, {}, counts,
                       group.rate, first_memory, second_memory, group.decay, epsilon,
                       /*amsgrad=*/false, /*maximize=*/false, group.too_large, group.broken);
}

#else

bool has_fused_updates(const Tensor& /*parameter*/) {
  return false;
}

void fused_sgd(const FusedGroup& /*group*/, double /*momentum*/) {
  expects(false, "this LibTorch has no fused updates");
}

void fused_adamw(const FusedGroup& /*group*/,
                 double /*first_memory*/,
                 double /*second_memory*/,
                 double /*epsilon*/,
                 const Tensor& /*steps*/) {
  expects(false, "this LibTorch has no fused updates");
}

#endif

}  // namespace partwise::tensors
