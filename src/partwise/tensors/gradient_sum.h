#pragma once

#include "partwise/tensors/ranks.h"

#include <vector>

namespace partwise::tensors {

// Sums the gradients of all ranks while the backward pass is still running: parameters are taken
// together in buckets, and a bucket goes on its way as soon as its last gradient has arrived.
class GradientSum {
 public:
  // parameters: in the order of the forward pass, hence their gradients arrive in the opposite one.
  GradientSum(const Ranks& ranks,
              const std::vector<Tensor>& parameters,
              int64_t bucket_bytes = 25 << 20);

  // After the backward pass: waits; from here on every parameter's gradient is the sum over the
  // ranks. Alone: nothing.
  void finish();

  int64_t started() const;  // buckets on their way

 private:
  struct Buckets;
  std::shared_ptr<Buckets> buckets_;
};

}  // namespace partwise::tensors
