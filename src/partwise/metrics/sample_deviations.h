#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace partwise::metrics {

inline constexpr std::size_t kColumns = 4;
using Columns = std::array<double, kColumns>;

// sample_deviation of each of four columns, to the last bit: sums run down a column in the same
// order there, but side by side, so that no addition waits for the one before. Meaningless for
// fewer than two rows.
Columns sample_deviations(std::span<const Columns> rows);

}  // namespace partwise::metrics
