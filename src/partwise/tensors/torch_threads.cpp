#include "partwise/tensors/torch_threads.h"

#include <ATen/Parallel.h>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace partwise::tensors {

void in_parallel(int64_t count,
                 int64_t grain,
                 const std::function<void(int64_t begin, int64_t end)>& work) {
#ifdef _OPENMP
  omp_set_num_threads(at::get_num_threads());  // LibTorch may bring an OpenMP of its own
#endif
  at::parallel_for(0, count, grain, work);
}

}  // namespace partwise::tensors
