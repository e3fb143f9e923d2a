#include "partwise/kernels/gpu_kernels.h"
#include "partwise/kernels/method_constants.h"

#include <cmath>
#include <string>

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
  int device = 0;
  cudaGetDevice(&device);
  launch_failed(device, cudaGetErrorString(error));
}

#include "partwise/kernels/gpu_kernels.inc"

// All kernels are compiled for the same GPUs: one speaks for all. Whoever asks is about to work on
// the device, so it stays this thread's.
std::string refusal_of(int device) {
  int current = -1;
  cudaFuncAttributes attributes;
  auto error = cudaGetDevice(&current);
  if (error == cudaSuccess && current != device) error = cudaSetDevice(device);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, settle_kernel);
  if (error == cudaSuccess) return {};
  cudaGetLastError();  // else the next launch is blamed for it
  int major = 0;
  int minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  return "compute capability " + std::to_string(major) + "." + std::to_string(minor) + ": " +
         cudaGetErrorString(error);
}

}  // namespace

const GpuKernels* cuda_kernels() {
  static const GpuKernels table = [] {
    auto kernels = kGpuTable;
    kernels.refusal = refusal_of;
    return kernels;
  }();
  return &table;
}

}  // namespace partwise::kernels
