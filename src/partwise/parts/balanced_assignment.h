#pragma once

#include <cstdint>
#include <vector>

namespace partwise::parts {

// One category per filter, every category of as many filters as any other, give or take one: the
// assignment that maximises the sum over the filters of log(fitness + 1e-3) (Hungarian method,
// O(filters^3)). Filters beyond a multiple of the categories go to the first of them.
//   fitness[category * filters + filter] >= 0
std::vector<int64_t> balanced_assignment(const std::vector<double>& fitness, int64_t categories);

}  // namespace partwise::parts
