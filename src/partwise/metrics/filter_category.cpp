#include "partwise/metrics/filter_category.h"

#include "partwise/base/error.h"

#include <algorithm>

namespace partwise::metrics {
namespace {

double map_mass(std::span<const float> map) {
  double sum = 0.0;
  for (const float value : map) sum += mass(value);
  return sum;
}

// mass_of(row, filter)
template <typename Mass>
std::vector<int64_t> strongest(int64_t rows,
                               int64_t filters,
                               std::span<const int64_t> row_category,
                               int64_t categories,
                               const Mass& mass_of) {
  expects(std::ssize(row_category) == rows, "{} categories for {} rows", row_category.size(), rows);
  expects(categories > 0, "filters cannot be assigned to {} categories", categories);
  std::vector<double> sums(static_cast<std::size_t>(filters * categories));
  std::vector<double> counts(static_cast<std::size_t>(categories));
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t category = row_category[row];
    if (category < 0) continue;
    expects(category < categories, "row {}: no category {}", row, category);
    counts[category] += 1.0;
    for (int64_t filter = 0; filter < filters; ++filter)
      sums[filter * categories + category] += mass_of(row, filter);
  }
  std::vector<int64_t> strongest(static_cast<std::size_t>(filters));
  for (int64_t filter = 0; filter < filters; ++filter) {
    double best = 0.0;
    for (int64_t category = 0; category < categories; ++category) {
      const double mean = sums[filter * categories + category] / std::max(counts[category], 1.0);
      if (mean <= best) continue;
      best = mean;
      strongest[filter] = category;
    }
  }
  return strongest;
}

}  // namespace

std::vector<int64_t> strongest_category(const Maps& maps,
                                        std::span<const int64_t> row_category,
                                        int64_t categories) {
  expect_consistent(maps);
  return strongest(maps.rows, maps.filters, row_category, categories,
                   [&](int64_t row, int64_t filter) { return map_mass(maps.map(row, filter)); });
}

std::vector<int64_t> strongest_category(const MapSummaries& maps,
                                        std::span<const int64_t> row_category,
                                        int64_t categories) {
  expect_consistent(maps);
  return strongest(maps.rows, maps.filters, row_category, categories,
                   [&](int64_t row, int64_t filter) { return maps.masses_of(filter)[row]; });
}

}  // namespace partwise::metrics
