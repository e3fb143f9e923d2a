#pragma once

#include "partwise/base/random.h"
#include "partwise/metrics/truth.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace partwise::metrics {

// A partner for each of `count` items, every item being the partner of one: a random order in which
// nobody keeps his place (but for a single item, which must).
std::vector<std::size_t> derangement(std::size_t count, Random& random);

// [rows]: one other row of the same category for every row; rows without an object keep themselves.
std::vector<int64_t> other_rows(const Truth& truth, Random random);

}  // namespace partwise::metrics
