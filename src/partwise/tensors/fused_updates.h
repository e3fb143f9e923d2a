#pragma once

#include "partwise/tensors/tensor.h"

#include <vector>

namespace partwise::tensors {

// LibTorch's own updates of many parameters in one kernel, where it has them: on a GPU, from 2.4
// on.
bool has_fused_updates(const Tensor& parameter);

// What belongs to the parameters of one group, in their order; rate []: on their device. Gradients
// are divided by `too_large`, and nothing happens where `broken` is not 0; both [] float32.
struct FusedGroup {
  std::vector<Tensor> parameters;
  std::vector<Tensor> gradients;
  std::vector<Tensor> first;
  std::vector<Tensor> second;  // AdamW
  Tensor rate;
  double decay = 0.0;
  Tensor too_large;
  Tensor broken;
};

void fused_sgd(const FusedGroup& group, double momentum);
//   steps []: how many there were, this one included
void fused_adamw(const FusedGroup& group,
                 double first_memory,
                 double second_memory,
                 double epsilon,
                 const Tensor& steps);

}  // namespace partwise::tensors
