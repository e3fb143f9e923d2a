#include "partwise/tensors/torch_threads.h"

#include "partwise/tensors/session.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace partwise::tensors {
namespace {

TEST(InParallel, WorksOnAsManyThreadsAsTheSessionHas) {
#ifndef PARTWISE_OPENMP
  GTEST_SKIP() << "compiled without OpenMP";
#endif
  for (const std::size_t threads : {1U, 2U, 3U}) {
    start_session(static_cast<int64_t>(threads));
    std::mutex guard;
    std::set<std::thread::id> seen;
    std::vector<int> visits(100);
    in_parallel(100, 1, [&](int64_t begin, int64_t end) {
      const std::lock_guard lock(guard);
      seen.insert(std::this_thread::get_id());
      for (auto i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(seen.size(), threads);
    EXPECT_EQ(visits, std::vector<int>(100, 1));
  }
  start_session(0);
}

}  // namespace
}  // namespace partwise::tensors
