#include "partwise/kernels/gpu_kernels.h"

namespace partwise::kernels {

#if defined(PARTWISE_CUDA)
const GpuKernels* cuda_kernels();  // gpu_kernels.cu
#else
static const GpuKernels* cuda_kernels() {
  return nullptr;
}
#endif

namespace {

const GpuKernels*& kernels_in_use() {
  static const GpuKernels* kernels = cuda_kernels();
  return kernels;
}

}  // namespace

const GpuKernels* gpu_kernels() {
  return kernels_in_use();
}

void use_gpu_kernels(const GpuKernels* kernels) {
  kernels_in_use() = kernels;
}

}  // namespace partwise::kernels
