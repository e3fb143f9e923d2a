#include "partwise/kernels/gpu_kernels.h"
#include "partwise/kernels/method_constants.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define UNROLLED(how) _Pragma(how)

namespace partwise::kernels {
namespace {

template <class Work>
void launch(void (*kernel)(Work), int wide, int high, int threads, const Work& work, void* stream) {
  if (wide == 0 || high == 0) return;
  kernel<<<dim3(static_cast<unsigned>(wide), static_cast<unsigned>(high)),
           static_cast<unsigned>(threads), 0, static_cast<cudaStream_t>(stream)>>>(work);
  const auto error = cudaGetLastError();
  if (error == cudaSuccess) return;
  // A launch fails only by a mistake of ours or a broken device: no number can be trusted then.
  std::fprintf(stderr, "partwise: a GPU kernel did not start: %s\n", cudaGetErrorString(error));
  std::abort();
}

#include "partwise/kernels/gpu_kernels.inc"

}  // namespace

const GpuKernels* cuda_kernels() {
  return &kGpuTable;
}

}  // namespace partwise::kernels
