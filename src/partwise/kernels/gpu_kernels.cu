#include "partwise/kernels/gpu_kernels.h"
#include "partwise/kernels/method_constants.h"

#include <cmath>
#include <string>

#define UNROLLED(how) _Pragma(how)

namespace partwise::kernels {
namespace {

// A kernel's blocks may come before the kernel in front has ended, as they do here: they find their
// places meanwhile, and wait. So every kernel begins with this.
__device__ void wait_for_earlier_work() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// GPUs can do that since Hopper, kernels compiled for it do wait, and recordings hold it since CUDA
// 12.3.
bool may_come_early(const void* kernel) {
  int driver = 0;
  int devices = 0;
  cudaFuncAttributes attributes;
  bool may = CUDART_VERSION >= 12030 && cudaDriverGetVersion(&driver) == cudaSuccess &&
             driver >= 12030 && cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess &&
             attributes.ptxVersion >= 90 && cudaGetDeviceCount(&devices) == cudaSuccess;
  for (int device = 0; device < devices; ++device) {
    int major = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    may = may && major >= 9;
  }
  return may;
}

template <class Work>
void launch(void (*kernel)(Work), int wide, int high, int threads, const Work& work, void* stream) {
  if (wide == 0 || high == 0) return;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(static_cast<unsigned>(wide), static_cast<unsigned>(high));
  how.blockDim = dim3(static_cast<unsigned>(threads));
  how.stream = static_cast<cudaStream_t>(stream);
  how.attrs = &early;
  static const bool early_too = may_come_early(reinterpret_cast<const void*>(kernel));
  how.numAttrs = early_too ? 1 : 0;
  const auto error = cudaLaunchKernelEx(&how, kernel, work);
  if (error == cudaSuccess) return;
  cudaGetLastError();  // else the next launch is blamed for it
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
