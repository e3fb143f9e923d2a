#pragma once

#include "partwise/base/random.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace partwise::metrics {

// Many uniform permutations from few: a permutation is s o t, s one of 64 that were drawn and t one
// of 64 others. Each is uniform, and any two that differ in s or t are independent of each other,
// so that a mean over them has the expectation and the variance of one over as many drawn one by
// one. Only what is asked for is drawn, each from a seed of its own, so that nothing depends on who
// asked before.
class Permutations {
 public:
  explicit Permutations(uint64_t seed) : seed_(seed) {}

  // `count` permutations of `size` items, for the filter `user` and the purpose `stream`: item i of
  // the c-th is first[seconds[c][i]]. Of one stream, 4096 differ before they return. The answer
  // holds until the next question.
  struct Composed {
    std::span<const int32_t> first;
    std::vector<std::span<const int32_t>> seconds;
  };
  const Composed& of(int64_t stream, int64_t size, int64_t user, int64_t count);

 private:
  static constexpr int64_t kDrawn = 64;
  using Drawn = std::array<std::vector<int32_t>, kDrawn>;
  using Both = std::array<Drawn, 2>;

  uint64_t seed_;
  std::map<std::pair<int64_t, int64_t>, Both> drawn_;  // by stream and size
  Composed composed_;
};

}  // namespace partwise::metrics
