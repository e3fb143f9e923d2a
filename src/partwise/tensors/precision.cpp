#include "partwise/tensors/precision.h"

#include "partwise/tensors/torch.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace partwise::tensors {
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

FullPrecision::FullPrecision() : cpu_(casts(false)), cuda_(casts(true)) {
  if (cpu_) set_casts(false, false);
  if (cuda_) set_casts(true, false);
}

FullPrecision::~FullPrecision() {
  if (cpu_) set_casts(false, true);
  if (cuda_) set_casts(true, true);
}

}  // namespace partwise::tensors
