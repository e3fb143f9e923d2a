#include "partwise/tensors/gpu_stream.h"

#include "partwise/tensors/torch.h"

#if defined(PARTWISE_CUDA)
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>
#include <map>
#include <utility>
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

// One for all that a thread does beside its other work on a GPU: the pieces follow one another.
c10::cuda::CUDAStream side_stream(c10::DeviceIndex gpu) {
  static thread_local std::map<c10::DeviceIndex, c10::cuda::CUDAStream> streams;
  const auto known = streams.find(gpu);
  if (known != streams.end()) return known->second;
  return streams.emplace(gpu, c10::cuda::getStreamFromPool(/*isHighPriority=*/true, gpu))
      .first->second;
}

}  // namespace

struct SideWork::End {
  explicit End(const c10::cuda::CUDAStream& began) : beginning(began) {}

  void join() { event.block(c10::cuda::getCurrentCUDAStream(beginning.device_index())); }

  // A GPU that no longer answers is left alone: whoever asks it for anything next is told.
  void let_go() noexcept {
    try {
      event.block(beginning);
    } catch (const std::exception&) {
    }
  }

  c10::cuda::CUDAStream beginning;  // where it was asked for
  at::cuda::CUDAEvent event;
};

SideWork::~SideWork() {
  if (end_) end_->let_go();
}

void SideWork::run(const Tensor& where, const std::function<void()>& ask) {
  join();
  if (!where.is_cuda()) return ask();
  const auto gpu = where.device().index();
  auto end = std::make_shared<End>(c10::cuda::getCurrentCUDAStream(gpu));
  const auto side = side_stream(gpu);
  at::cuda::CUDAEvent begin;
  begin.record(end->beginning);
  begin.block(side);
  const auto conclude = [&] {
    end->event.record(side);
    end_ = end;
  };
  try {
    const c10::cuda::CUDAStreamGuard there(side);
    ask();
  } catch (...) {
    conclude();  // what was asked for so far goes on
    throw;
  }
  conclude();
}

void SideWork::join() {
  if (const auto end = std::exchange(end_, nullptr)) end->join();
}

void NewestSideWork::join() const {
  if (const auto end = end_.lock()) end->join();
}

void NewestSideWork::let_go() const noexcept {
  if (const auto end = end_.lock()) end->let_go();
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

SideWork::~SideWork() = default;

void SideWork::run(const Tensor& /*where*/, const std::function<void()>& ask) {
  ask();
}

void SideWork::join() {}

void NewestSideWork::join() const {}

void NewestSideWork::let_go() const noexcept {}

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
