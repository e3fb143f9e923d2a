#include "partwise/base/parallel.h"

#include "partwise/base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace partwise {

int hardware_threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int usable_threads(int asked) {
  const int cores = hardware_threads();
  if (asked <= cores) return asked;
  say(fmt::format("--threads {}: more than the {} cores there are, and no quicker; using {}", asked,
                  cores, cores));
  return cores;
}

void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body) {
  const int64_t wanted = threads > 0 ? threads : hardware_threads();
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_guard;
  const auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(failure_guard);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> helpers;
  for (int64_t t = 1; t < std::min(wanted, count); ++t) helpers.emplace_back(work);
  work();
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace partwise
