#include "partwise/kernels/gpu_kernels.h"

#include "partwise/base/error.h"
#include "partwise/base/progress.h"

#include <map>
#include <mutex>
#include <utility>

namespace partwise::kernels {

#if defined(PARTWISE_CUDA)
const GpuKernels* cuda_kernels();  // gpu_kernels.cu
#else
static const GpuKernels* cuda_kernels() {
  return nullptr;
}
#endif

namespace {

struct KernelsInUse {
  const GpuKernels* kernels = cuda_kernels();
  std::map<int, bool> runs_on;  // by device, of those that were asked
  std::mutex guard;
};

KernelsInUse& kernels_in_use() {
  static KernelsInUse one;
  return one;
}

bool can_run(const GpuKernels& kernels, int device) {
  if (kernels.refusal == nullptr) return true;
  const auto refusal = kernels.refusal(device);
  if (refusal.empty()) return true;
  say(fmt::format(
      "cuda:{}: this build has no kernels that run there ({}); LibTorch's operators do the work, "
      "more slowly; PARTWISE_CUDA_ARCHITECTURES says what a build is for",
      device, refusal));
  return false;
}

}  // namespace

const GpuKernels* gpu_kernels(int device) {
  auto& [kernels, runs_on, guard] = kernels_in_use();
  const std::lock_guard lock(guard);
  if (kernels == nullptr || kernels->emulated != (device < 0)) return nullptr;
  auto known = runs_on.find(device);
  if (known == runs_on.end()) known = runs_on.emplace(device, can_run(*kernels, device)).first;
  return known->second ? kernels : nullptr;
}

const GpuKernels* use_gpu_kernels(const GpuKernels* kernels) {
  auto& in_use = kernels_in_use();
  const std::lock_guard lock(in_use.guard);
  in_use.runs_on.clear();
  return std::exchange(in_use.kernels, kernels);
}

void launch_failed(int device, const std::string& why) {
  throw Error(
      fmt::format("cuda:{}: a kernel did not start ({}); nvidia-smi tells how the GPU is, "
                  "--device cpu does without it",
                  device, why));
}

}  // namespace partwise::kernels
