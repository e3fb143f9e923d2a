#include "partwise/atlas/workbench.h"

namespace partwise::atlas {

Workbench::Workbench(std::function<void()> prepare)
    : thread_([this, prepare = std::move(prepare)] { run(prepare); }) {}

Workbench::~Workbench() {
  {
    const std::lock_guard lock(guard_);
    closing_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void Workbench::add(std::function<void()> work) {
  {
    const std::lock_guard lock(guard_);
    if (closing_) return;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void Workbench::run(const std::function<void()>& prepare) {
  if (prepare) prepare();
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(guard_);
      changed_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
      if (closing_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      work();
    } catch (...) {  // whoever waits for it has it already (packaged_task)
    }
  }
}

}  // namespace partwise::atlas
