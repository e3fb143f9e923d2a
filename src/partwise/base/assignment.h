#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace partwise {

// A column of its own for each row, so that the costs sum to the least possible (Hungarian method:
// shortest augmenting paths with potentials, O(rows^2 columns)). Ties: always the same way.
//   costs [rows, columns], rows <= columns
std::vector<int64_t> cheapest_assignment(std::span<const double> costs,
                                         int64_t rows,
                                         int64_t columns);

}  // namespace partwise
