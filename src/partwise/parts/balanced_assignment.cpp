#include "partwise/parts/balanced_assignment.h"

#include <cmath>
#include <limits>

namespace partwise::parts {

namespace {

constexpr double kLeastFitness = 1e-3;

}  // namespace

// Shortest augmenting paths with potentials: rows are filters, columns are slots, slot s is one of
// category s mod categories. Index 0 stands for none.
std::vector<int64_t> balanced_assignment(const std::vector<double>& fitness, int64_t categories) {
  const auto wide = static_cast<std::size_t>(categories);
  const std::size_t filters = fitness.size() / wide;
  const auto cost = [&](std::size_t row, std::size_t column) {
    return -std::log(fitness[(column - 1) % wide * filters + row - 1] + kLeastFitness);
  };
  std::vector<double> row_potential(filters + 1);
  std::vector<double> column_potential(filters + 1);
  std::vector<std::size_t> row_of(filters + 1);
  std::vector<std::size_t> way(filters + 1);
  for (std::size_t row = 1; row <= filters; ++row) {
    row_of[0] = row;
    std::size_t column = 0;
    std::vector<double> least(filters + 1, std::numeric_limits<double>::infinity());
    std::vector<bool> used(filters + 1, false);
    do {
      used[column] = true;
      const std::size_t from = row_of[column];
      double step = std::numeric_limits<double>::infinity();
      std::size_t next = 0;
      for (std::size_t j = 1; j <= filters; ++j) {
        if (used[j]) continue;
        const double reduced = cost(from, j) - row_potential[from] - column_potential[j];
        if (reduced < least[j]) {
          least[j] = reduced;
          way[j] = column;
        }
        if (least[j] < step) {
          step = least[j];
          next = j;
        }
      }
      for (std::size_t j = 0; j <= filters; ++j) {
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
  std::vector<int64_t> category(filters);
  for (std::size_t j = 1; j <= filters; ++j)
    category[row_of[j] - 1] = static_cast<int64_t>((j - 1) % wide);
  return category;
}

}  // namespace partwise::parts
