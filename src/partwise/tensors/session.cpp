#include "partwise/tensors/session.h"

#include "partwise/base/error.h"
#include "partwise/base/parallel.h"
#include "partwise/tensors/torch.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <dlfcn.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace partwise::tensors {
namespace {

// What malloc gives back to the system, a training step asks for again and the kernel fills with
// zeros, page by page: a tenth of the demo's step.
void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int kKept = 1 << 30;  // bytes at most
  mallopt(M_MMAP_THRESHOLD, kKept);
  mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

template <typename Function>
Function* loaded(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// OpenBLAS's own threads spin for 26 ms after each product, on the cores that OpenMP's are to work
// on: a product on one thread costs less than that.
void silence_blas_threads() {
  constexpr int kOwnThreads = 1;  // openblas_get_parallel: 0 none, 1 its own, 2 OpenMP's
  auto* kind = loaded<int()>("openblas_get_parallel");
  auto* set_threads = loaded<void(int)>("openblas_set_num_threads");
  if (kind && set_threads && kind() == kOwnThreads) set_threads(1);
}

}  // namespace

void start_session(int64_t threads) {
  at::set_num_threads(threads > 0 ? static_cast<int>(threads) : hardware_threads());
  silence_blas_threads();
  keep_freed_memory();
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
  // Else every new tensor is filled with NaN first: on a GPU a sixth of a step.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
#endif
  at::globalContext().setFlushDenormal(true);
}

void require_device(const std::string& device) {
  if (device == "cpu") return;
  ensure(device.starts_with("cuda"), "device = '{}' is unknown; valid: auto, cpu, cuda, cuda:N",
         device);
  ensure(torch::cuda::is_available(),
         "device = '{}', but this build of LibTorch ({}) finds no CUDA device; use --device cpu",
         device, libtorch_version());
  const auto devices = static_cast<int64_t>(torch::cuda::device_count());
  int64_t number = devices;  // what LibTorch cannot parse does not exist either
  try {
    number = torch::Device(device).index();  // -1: the first
  } catch (const c10::Error&) {
  }
  ensure(number < devices,
         "device = '{}', but this machine has {} CUDA device(s), the first is cuda:0", device,
         devices);
}

std::string choose_device(const std::string& name) {
  if (name == "auto") return torch::cuda::is_available() ? "cuda" : "cpu";
  require_device(name);
  return name;
}

void seed_generators(uint64_t seed) {
  torch::manual_seed(seed);
}

std::string libtorch_version() {
  return TORCH_VERSION;
}

namespace {

#if TORCH_VERSION_MAJOR >= 2
bool casts(bool cuda) {
  return at::autocast::is_autocast_enabled(cuda ? at::kCUDA : at::kCPU);
}

void set_casts(bool cuda, bool on) {
  const auto device = cuda ? at::kCUDA : at::kCPU;
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, on);
}
#else
bool casts(bool cuda) {
  return cuda ? at::autocast::is_enabled() : at::autocast::is_cpu_enabled();
}

void set_casts(bool cuda, bool on) {
  if (cuda) {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(on);
  } else {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(on);
  }
}
#endif

}  // namespace

PrecisionScope::PrecisionScope(Precision precision, const std::string& device)
    : rounds_(precision == Precision::bf16), on_cuda_(device.starts_with("cuda")) {
  at::globalContext().setAllowTF32CuDNN(precision != Precision::float32);
  at::globalContext().setAllowTF32CuBLAS(precision != Precision::float32);
  if (rounds_) set_casts(on_cuda_, true);
}

PrecisionScope::~PrecisionScope() {
  if (!rounds_) return;
  set_casts(on_cuda_, false);
  at::autocast::clear_cache();  // it holds rounded copies of weights that are about to change
}

FullPrecision::FullPrecision()
    : cpu_(casts(false)), cuda_(casts(true)), tf32_(at::globalContext().allowTF32CuBLAS()) {
  if (tf32_) at::globalContext().setAllowTF32CuBLAS(false);
  if (cpu_) set_casts(false, false);
  if (cuda_) set_casts(true, false);
}

FullPrecision::~FullPrecision() {
  if (tf32_) at::globalContext().setAllowTF32CuBLAS(true);
  if (cpu_) set_casts(false, true);
  if (cuda_) set_casts(true, true);
}

}  // namespace partwise::tensors
