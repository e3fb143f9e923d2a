#pragma once

#include "partwise/kernels/gpu_kernels.h"
#include "partwise/kernels/method_constants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <setjmp.h>
#include <ucontext.h>
#include <utility>
#include <vector>

// Runs the GPU's kernels where there is none, to test their arithmetic and their barriers: a
// block's threads take turns, each until it waits for others; the blocks run one after the other,
// so that what they share can be static.
#define __global__ static
#define __device__ inline
#define __shared__ static
#define __grid_constant__
#define UNROLLED(how)
#define __launch_bounds__(...)

namespace partwise::kernels {
namespace {

struct Place {
  int x = 0;
  int y = 0;
};
Place threadIdx;
Place blockIdx;
Place blockDim;
Place gridDim;

class Block {
 public:
  template <class Kernel>
  static void run(int threads, const Kernel& kernel) {
    Block block(
        threads, [](void* what) { (*static_cast<const Kernel*>(what))(); },
        const_cast<void*>(static_cast<const void*>(&kernel)));
    running_ = &block;
    block.all();
    running_ = nullptr;
  }

  // Some of its threads, who wait for each other; those that have ended are not waited for.
  struct Group {
    int live = 0;
    int arrived = 0;
    int met = 0;  // so often
    int count = 0;
    int found = 0;  // of those that met last
    float lanes[32] = {};
  };

  static Group& whole() { return running_->whole_; }
  static Group& warp() { return running_->warps_[running_->turn_ / 32]; }
  static int lane() { return static_cast<int>(running_->turn_ % 32); }

  static void meet(Group& group) {
    const int before = group.met;
    ++group.arrived;
    let_go(group);
    while (group.met == before) wait();
  }

 private:
  static constexpr std::size_t kStack = 1 << 15;

  struct Thread {
    ucontext_t beginning;
    jmp_buf waiting;
    bool began = false;
    bool ended = false;
  };

  Block(int threads, void (*start)(void*), void* what)
      : threads_(static_cast<std::size_t>(threads)),
        warps_((threads_.size() + 31) / 32),
        stacks_(new char[kStack * static_cast<std::size_t>(threads)]),
        start_(start),
        what_(what) {
    whole_.live = threads;
    for (std::size_t i = 0; i < threads_.size(); ++i) ++warps_[i / 32].live;
  }

  static void let_go(Group& group) {
    if (group.arrived == 0 || group.arrived < group.live) return;
    group.arrived = 0;
    group.found = std::exchange(group.count, 0);
    ++group.met;
  }

  static void wait() {
    if (_setjmp(running_->threads_[running_->turn_].waiting) == 0) _longjmp(running_->home_, 1);
  }

  static void begin() {
    running_->start_(running_->what_);
    running_->threads_[running_->turn_].ended = true;
    for (auto* group : {&whole(), &warp()}) {
      --group->live;
      let_go(*group);
    }
    _longjmp(running_->home_, 1);
  }

  // Contexts begin a thread; from there on jumps, which ask nothing of the system.
  void all() {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      auto& context = threads_[i].beginning;
      getcontext(&context);
      context.uc_stack.ss_sp = stacks_.get() + i * kStack;
      context.uc_stack.ss_size = kStack;
      makecontext(&context, begin, 0);
    }
    left_ = true;
    while (left_) {
      left_ = false;
      for (turn_ = 0; turn_ < threads_.size(); ++turn_) {
        if (threads_[turn_].ended) continue;
        left_ = true;
        threadIdx.x = static_cast<int>(turn_);
        go();
      }
    }
  }

  void go() {
    if (_setjmp(home_) != 0) return;
    auto& thread = threads_[turn_];
    if (thread.began) _longjmp(thread.waiting, 1);
    thread.began = true;
    setcontext(&thread.beginning);
  }

  static inline Block* running_ = nullptr;
  jmp_buf home_{};
  std::vector<Thread> threads_;
  Group whole_;
  std::vector<Group> warps_;
  std::unique_ptr<char[]> stacks_;
  void (*start_)(void*);
  void* what_;
  std::size_t turn_ = 0;
  bool left_ = true;
};

inline void __syncthreads() {
  Block::meet(Block::whole());
}
inline int __syncthreads_count(int mine) {
  auto& block = Block::whole();
  block.count += mine != 0 ? 1 : 0;
  Block::meet(block);
  return block.found;
}
inline float __shfl_xor_sync(unsigned /*lanes*/, float value, int other) {
  auto& warp = Block::warp();
  warp.lanes[Block::lane()] = value;
  Block::meet(warp);
  const float found = warp.lanes[Block::lane() ^ other];
  Block::meet(warp);
  return found;
}
inline void __threadfence() {}
inline int __ffs(int bits) {
  return __builtin_ffs(bits);
}
inline int __popc(unsigned bits) {
  return __builtin_popcount(bits);
}
template <class T>
T atomicAdd(T* at, T value) {
  return std::exchange(*at, *at + value);
}
template <class T>
T atomicMin(T* at, T value) {
  return std::exchange(*at, std::min(*at, value));
}
template <class T>
T atomicMax(T* at, T value) {
  return std::exchange(*at, std::max(*at, value));
}
inline int __float_as_int(float value) {
  int bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float __int_as_float(int bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline std::mutex emulating;  // one launch at a time: ranks may be threads
inline int launches = 0;

template <class Work>
void launch(void (*kernel)(Work), int wide, int high, int threads, const Work& work, void*) {
  const std::lock_guard lock(emulating);
  ++launches;
  gridDim = {wide, high};
  blockDim = {threads, 1};
  for (blockIdx.y = 0; blockIdx.y < high; ++blockIdx.y) {
    for (blockIdx.x = 0; blockIdx.x < wide; ++blockIdx.x)
      Block::run(threads, [&] { kernel(work); });
  }
}

#include "partwise/kernels/gpu_kernels.inc"

// The emulated kernels serve while one lives.
class EmulatedGpu {
 public:
  EmulatedGpu() : table_(kGpuTable) {
    table_.emulated = true;
    before_ = use_gpu_kernels(&table_);
  }
  ~EmulatedGpu() { use_gpu_kernels(before_); }
  EmulatedGpu(const EmulatedGpu&) = delete;
  EmulatedGpu& operator=(const EmulatedGpu&) = delete;

 private:
  GpuKernels table_;
  const GpuKernels* before_;
};

}  // namespace
}  // namespace partwise::kernels
