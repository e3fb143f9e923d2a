#include "partwise/metrics/derangement.h"

#include <numeric>

namespace partwise::metrics {

std::vector<std::size_t> derangement(std::size_t count, Random& random) {
  std::vector<std::size_t> ring(count);
  std::iota(ring.begin(), ring.end(), std::size_t{0});
  shuffle(ring, random);
  std::vector<std::size_t> partner(count);
  for (std::size_t i = 0; i < count; ++i) partner[ring[i]] = ring[(i + 1) % count];
  return partner;
}

}  // namespace partwise::metrics
