#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace partwise::atlas {

// One thread on which networks work, one piece of work after the other: what LibTorch keeps per
// thread (its helpers, how it rounds) is there once, and results do not depend on who asks when.
class Workbench {
 public:
  // prepare: done first, on that thread
  explicit Workbench(std::function<void()> prepare);
  // Waits for the work at hand; what still waits is dropped.
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  // Waits for its turn and for the result; what the work throws is thrown here.
  template <typename Work>
  auto ask(Work work) -> std::invoke_result_t<Work> {
    using Result = std::invoke_result_t<Work>;
    auto task = std::make_shared<std::packaged_task<Result()>>(std::move(work));
    auto result = task->get_future();
    add([task] { (*task)(); });
    task.reset();
    return result.get();
  }

  // Does not wait. What it throws is lost.
  void add(std::function<void()> work);

 private:
  void run(const std::function<void()>& prepare);

  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool closing_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace partwise::atlas
