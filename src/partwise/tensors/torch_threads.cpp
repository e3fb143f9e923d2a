#include "partwise/tensors/torch_threads.h"

#include <ATen/Parallel.h>

namespace partwise::tensors {

void in_parallel(int64_t count,
                 int64_t grain,
                 const std::function<void(int64_t begin, int64_t end)>& work) {
  at::parallel_for(0, count, grain, work);
}

}  // namespace partwise::tensors
