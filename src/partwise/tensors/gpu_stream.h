#pragma once

#include "partwise/tensors/tensor.h"

#include <memory>
#include <vector>

namespace partwise::tensors {

// The number of the GPU that holds it; -1: the CPU.
int gpu_of(const Tensor& tensor);

// The CUDA stream that LibTorch works on here and now, as the kernels take it; null on the CPU. Its
// GPU becomes this thread's, as a launch asks for.
void* stream_of(const Tensor& tensor);

// A copy of pinned memory on a GPU. It is on its way while the GPU does what it was asked for
// before; what is asked for from here on comes after it. On the CPU: the same tensor.
Tensor sent(const Tensor& pinned, const Tensor& where);

// Numbers on their way from a GPU, which goes on working meanwhile.
class ComingNumbers {
 public:
  explicit ComingNumbers(const Tensor& numbers);  // float64, [count]
  bool have_come() const;
  std::vector<double> read() const;  // waits where it must

 private:
  struct Event;
  Tensor here_;
  std::shared_ptr<Event> event_;  // null: they were here all along
};

}  // namespace partwise::tensors
