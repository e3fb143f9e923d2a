#include "partwise/metrics/permutations.h"

#include <cstddef>
#include <numeric>

namespace partwise::metrics {

const Permutations::Composed& Permutations::of(int64_t stream,
                                               int64_t size,
                                               int64_t user,
                                               int64_t count) {
  auto& both = drawn_[{stream, size}];
  const auto drawn = [&](std::size_t side, int64_t index) {
    auto& order = both[side][static_cast<std::size_t>(index)];
    if (order.empty()) {
      order.resize(static_cast<std::size_t>(size));
      std::iota(order.begin(), order.end(), 0);
      Random random(derive_seed({seed_, static_cast<uint64_t>(stream), static_cast<uint64_t>(size),
                                 side, static_cast<uint64_t>(index)}));
      shuffle(order, random);
    }
    return std::span<const int32_t>(order);
  };
  composed_.first = drawn(0, user % kDrawn);
  composed_.seconds.clear();
  for (int64_t c = 0; c < count; ++c)
    composed_.seconds.push_back(drawn(1, (user / kDrawn * count + c) % kDrawn));
  return composed_;
}

}  // namespace partwise::metrics
