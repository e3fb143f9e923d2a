#include "partwise/parts/balanced_assignment.h"

#include "partwise/base/assignment.h"

#include <cmath>

namespace partwise::parts {

namespace {

constexpr double kLeastFitness = 1e-3;

}  // namespace

// Rows are filters, columns are slots, slot s is one of category s mod categories.
std::vector<int64_t> balanced_assignment(const std::vector<double>& fitness, int64_t categories) {
  const auto wide = static_cast<std::size_t>(categories);
  const std::size_t filters = fitness.size() / wide;
  std::vector<double> costs;
  costs.reserve(filters * filters);
  for (std::size_t filter = 0; filter < filters; ++filter) {
    for (std::size_t slot = 0; slot < filters; ++slot)
      costs.push_back(-std::log(fitness[slot % wide * filters + filter] + kLeastFitness));
  }
  const auto count = static_cast<int64_t>(filters);
  auto category = cheapest_assignment(costs, count, count);
  for (auto& slot : category) slot %= categories;
  return category;
}

}  // namespace partwise::parts
