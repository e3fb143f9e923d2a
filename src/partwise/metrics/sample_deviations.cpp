#include "partwise/metrics/sample_deviations.h"

#include <cmath>

namespace partwise::metrics {

Columns sample_deviations(std::span<const Columns> rows) {
  const auto count = static_cast<double>(rows.size());
  Columns mean{};
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c) mean[c] += row[c];
  }
  for (auto& sum : mean) sum /= count;
  Columns squares{};
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c)
      squares[c] += (row[c] - mean[c]) * (row[c] - mean[c]);
  }
  for (auto& sum : squares) sum = std::sqrt(sum / (count - 1.0));
  return squares;
}

}  // namespace partwise::metrics
