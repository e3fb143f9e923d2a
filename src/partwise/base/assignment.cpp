#include "partwise/base/assignment.h"

#include "partwise/base/error.h"

#include <limits>

namespace partwise {

// Index 0 stands for none, in rows and in columns.
std::vector<int64_t> cheapest_assignment(std::span<const double> costs,
                                         int64_t rows,
                                         int64_t columns) {
  expects(rows <= columns && std::ssize(costs) == rows * columns, "{} costs for {} x {}",
          costs.size(), rows, columns);
  const auto high = static_cast<std::size_t>(rows);
  const auto wide = static_cast<std::size_t>(columns);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> row_potential(high + 1);
  std::vector<double> column_potential(wide + 1);
  std::vector<std::size_t> row_of(wide + 1);
  std::vector<std::size_t> way(wide + 1);
  for (std::size_t row = 1; row <= high; ++row) {
    row_of[0] = row;
    std::size_t column = 0;
    std::vector<double> least(wide + 1, kNever);
    std::vector<bool> used(wide + 1, false);
    do {
      used[column] = true;
      const std::size_t from = row_of[column];
      double step = kNever;
      std::size_t next = 0;
      for (std::size_t j = 1; j <= wide; ++j) {
        if (used[j]) continue;
        const double reduced =
            costs[(from - 1) * wide + j - 1] - row_potential[from] - column_potential[j];
        if (reduced < least[j]) {
          least[j] = reduced;
          way[j] = column;
        }
        if (least[j] < step) {
          step = least[j];
          next = j;
        }
      }
      for (std::size_t j = 0; j <= wide; ++j) {
        if (used[j]) {
          row_potential[row_of[j]] += step;
          column_potential[j] -= step;
        } else {
          least[j] -= step;
        }
      }
      column = next;
    } while (row_of[column] != 0);
    while (column != 0) {
      row_of[column] = row_of[way[column]];
      column = way[column];
    }
  }
  std::vector<int64_t> column_of(high);
  for (std::size_t j = 1; j <= wide; ++j) {
    if (row_of[j] != 0) column_of[row_of[j] - 1] = static_cast<int64_t>(j - 1);
  }
  return column_of;
}

}  // namespace partwise
