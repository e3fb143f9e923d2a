#include "partwise/parts/balanced_assignment.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace partwise::parts {
namespace {

double gain_of(const std::vector<double>& fitness, const std::vector<int64_t>& category) {
  double sum = 0.0;
  for (std::size_t f = 0; f < category.size(); ++f)
    sum += std::log(fitness[static_cast<std::size_t>(category[f]) * category.size() + f] + 1e-3);
  return sum;
}

// Against all orders of seven filters on the slots 0 1 2 0 1 2 0.
TEST(BalancedAssignment, IsTheBestOfAll) {
  Random random(3);
  for (int round = 0; round < 5; ++round) {
    std::vector<double> fitness(21);
    for (auto& value : fitness) value = random.uniform(0.0, 1.0);
    const auto found = balanced_assignment(fitness, 3);
    EXPECT_EQ(std::count(found.begin(), found.end(), 0), 3);
    EXPECT_EQ(std::count(found.begin(), found.end(), 1), 2);
    std::vector<int64_t> order(7);
    std::iota(order.begin(), order.end(), 0);
    double best = -1e9;
    do {
      std::vector<int64_t> category;
      for (const int64_t slot : order) category.push_back(slot % 3);
      best = std::max(best, gain_of(fitness, category));
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_NEAR(gain_of(fitness, found), best, 1e-9);
  }
}

TEST(BalancedAssignment, ServesACategoryThatNoFilterPrefers) {
  const std::vector<double> fitness{0.9, 0.8, 0.7, 0.6, 0.1, 0.2, 0.3, 0.4};
  EXPECT_EQ(balanced_assignment(fitness, 2), (std::vector<int64_t>{0, 0, 1, 1}));
}

TEST(BalancedAssignment, OfEqualFiltersIsStillBalanced) {
  const auto found = balanced_assignment(std::vector<double>(4 * 10, 0.0), 4);
  for (int64_t c = 0; c < 4; ++c) {
    const auto count = std::count(found.begin(), found.end(), c);
    EXPECT_TRUE(count == 2 || count == 3) << c;
  }
}

}  // namespace
}  // namespace partwise::parts
