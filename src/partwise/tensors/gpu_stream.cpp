#include "partwise/tensors/gpu_stream.h"

#include "partwise/tensors/torch.h"

#if defined(PARTWISE_CUDA)
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#endif

namespace partwise::tensors {

int gpu_of(const Tensor& tensor) {
  return tensor.is_cuda() ? tensor.device().index() : -1;
}

void* stream_of([[maybe_unused]] const Tensor& tensor) {
#if defined(PARTWISE_CUDA)
  if (tensor.is_cuda()) {
    const auto gpu = tensor.device().index();
    c10::cuda::set_device(gpu);
    return c10::cuda::getCurrentCUDAStream(gpu).stream();
  }
#endif
  return nullptr;
}

#if defined(PARTWISE_CUDA)

namespace {

// For copies alone, beside all other work.
c10::cuda::CUDAStream arrivals(c10::DeviceIndex gpu) {
  static thread_local std::map<c10::DeviceIndex, c10::cuda::CUDAStream> streams;
  const auto known = streams.find(gpu);
  if (known != streams.end()) return known->second;
  return streams.emplace(gpu, c10::cuda::getStreamFromPool(/*isHighPriority=*/true, gpu))
      .first->second;
}

}  // namespace

Tensor sent(const Tensor& pinned, const Tensor& where) {
  if (!where.is_cuda()) return pinned;
  const auto gpu = where.device().index();
  const auto stream = arrivals(gpu);
  Tensor copy;
  {
    const c10::cuda::CUDAStreamGuard there(stream);
    copy = pinned.to(where.device(), pinned.scalar_type(), /*non_blocking=*/true);
  }
  const auto here = c10::cuda::getCurrentCUDAStream(gpu);
  at::cuda::CUDAEvent arrived;
  arrived.record(stream);
  arrived.block(here);
  copy.record_stream(here);  // its memory is not given away before
  return copy;
}

struct ComingNumbers::Event {
  at::cuda::CUDAEvent event;
};

ComingNumbers::ComingNumbers(const Tensor& numbers) {
  if (!numbers.is_cuda()) {
    here_ = numbers.clone();
    return;
  }
  here_ = torch::empty(numbers.sizes(), numbers.options().device(torch::kCPU).pinned_memory(true));
  here_.copy_(numbers, /*non_blocking=*/true);
  event_ = std::make_shared<Event>();
  event_->event.record(c10::cuda::getCurrentCUDAStream(numbers.device().index()));
}

bool ComingNumbers::have_come() const {
  return !event_ || event_->event.query();
}

std::vector<double> ComingNumbers::read() const {
  if (event_) event_->event.synchronize();
  return {here_.data_ptr<double>(), here_.data_ptr<double>() + here_.numel()};
}

#else

Tensor sent(const Tensor& pinned, const Tensor& /*where*/) {
  return pinned;
}

struct ComingNumbers::Event {};

ComingNumbers::ComingNumbers(const Tensor& numbers) : here_(numbers.clone()) {}

bool ComingNumbers::have_come() const {
  return true;
}

std::vector<double> ComingNumbers::read() const {
  return {here_.data_ptr<double>(), here_.data_ptr<double>() + here_.numel()};
}

#endif

}  // namespace partwise::tensors
