#include "partwise/tensors/gpu_stream.h"

#include "partwise/tensors/torch.h"

#if defined(PARTWISE_CUDA)
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#include <mutex>
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

// One for all side work of a GPU: its pieces follow one another.
c10::cuda::CUDAStream side_stream(c10::DeviceIndex gpu) {
  static std::mutex guard;
  static std::map<c10::DeviceIndex, c10::cuda::CUDAStream> streams;
  const std::lock_guard lock(guard);
  const auto known = streams.find(gpu);
  if (known != streams.end()) return known->second;
  return streams.emplace(gpu, c10::cuda::getStreamFromPool(/*isHighPriority=*/true, gpu))
      .first->second;
}

}  // namespace

struct SideWork::End {
  c10::DeviceIndex gpu;
  at::cuda::CUDAEvent event;
};

void SideWork::run(const Tensor& where, const std::function<void()>& ask) {
  join();
  if (!where.is_cuda()) return ask();
  auto end = std::make_shared<End>();
  end->gpu = where.device().index();
  const auto side = side_stream(end->gpu);
  at::cuda::CUDAEvent begin;
  begin.record(c10::cuda::getCurrentCUDAStream(end->gpu));
  begin.block(side);
  {
    const c10::cuda::CUDAStreamGuard there(side);
    ask();
  }
  end->event.record(side);
  end_ = end;
}

void SideWork::join() {
  if (end_) end_->event.block(c10::cuda::getCurrentCUDAStream(end_->gpu));
  end_.reset();
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
  event_->event.record(c10::cuda::getCurrentCUDAStream(numbers.get_device()));
}

bool ComingNumbers::have_come() const {
  return !event_ || event_->event.query();
}

std::vector<double> ComingNumbers::read() const {
  if (event_) event_->event.synchronize();
  return {here_.data_ptr<double>(), here_.data_ptr<double>() + here_.numel()};
}

#else

struct SideWork::End {};

void SideWork::run(const Tensor& /*where*/, const std::function<void()>& ask) {
  ask();
}

void SideWork::join() {}

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
