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

std::vector<int64_t> other_rows(const Truth& truth, Random random) {
  std::vector<int64_t> other(truth.rows.size());
  std::iota(other.begin(), other.end(), int64_t{0});
  for (const auto& rows : rows_by_category(truth)) {
    const auto partner = derangement(rows.size(), random);
    for (std::size_t i = 0; i < rows.size(); ++i) other[rows[i]] = rows[partner[i]];
  }
  return other;
}

}  // namespace partwise::metrics
