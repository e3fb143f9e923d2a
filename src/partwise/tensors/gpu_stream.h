#pragma once

#include "partwise/tensors/tensor.h"

#include <functional>
#include <memory>
#include <vector>

namespace partwise::tensors {

// The number of the GPU that holds it; -1: the CPU.
int gpu_of(const Tensor& tensor);

// The CUDA stream that LibTorch works on here and now, as the kernels take it; null on the CPU. Its
// GPU becomes this thread's, as a launch asks for.
void* stream_of(const Tensor& tensor);

// What a GPU does beside its other work, kept by whoever needs what comes of it. On the CPU it is
// done at once.
class SideWork {
 public:
  struct End;

  SideWork() = default;
  SideWork(const SideWork&) = delete;
  SideWork& operator=(const SideWork&) = delete;
  ~SideWork();  // what its stream is asked for from here on comes after it

  // What `ask` asks of the GPU of `where`, LibTorch's operators included: it begins after all that
  // was asked for before. What both use must live until they are joined.
  void run(const Tensor& where, const std::function<void()>& ask);
  void join();  // what is asked for from here on comes after it, and there is nothing to wait for

 private:
  friend class NewestSideWork;
  std::shared_ptr<End> end_;  // null: there is nothing to wait for
};

// For others who read what side work writes: it stays with whoever keeps it.
class NewestSideWork {
 public:
  void is(const SideWork& work) { end_ = work.end_; }
  void join() const;
  void let_go() const noexcept;  // the same for the stream on which it was asked for

 private:
  std::weak_ptr<SideWork::End> end_;
};

// Numbers on their way from a GPU, which goes on working meanwhile.
class ComingNumbers {
 public:
  explicit ComingNumbers(const Tensor& numbers);  // float64, [count]
  bool have_come() const;
  std::vector<double> read() const;  // waits where it must

 private:
  struct Event;
  Tensor here_;
  std::shared_ptr<Event> event_;  // null: they were here all along
};

}  // namespace partwise::tensors
