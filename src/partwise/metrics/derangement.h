#pragma once

#include "partwise/base/random.h"

#include <cstddef>
#include <vector>

namespace partwise::metrics {

// A partner for each of `count` items, every item being the partner of one: a random order in which
// nobody keeps his place (but for a single item, which must).
std::vector<std::size_t> derangement(std::size_t count, Random& random);

}  // namespace partwise::metrics
