#pragma once

#include "partwise/tensors/ranks.h"

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace partwise::tensors {

// Runs `work` once for each of `count` ranks, as threads of this process; the first failure is
// thrown here.
inline void as_ranks(int count, const std::function<void(const Ranks&)>& work) {
  const int port = free_port();
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        RankPlace place;
        place.rank = rank;
        place.count = count;
        place.port = port;
        const auto ranks = Ranks::join(place, "cpu", std::chrono::seconds(20));
        work(ranks);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

// Tests of several ranks have nothing to say where a build cannot run them.
class SeveralRanks : public testing::Test {
 protected:
  void SetUp() override {
    try {
      require_ranks("cpu");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

}  // namespace partwise::tensors
