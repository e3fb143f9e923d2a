#include "partwise/base/assignment.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace partwise {
namespace {

// Against every way to put three rows on five columns.
TEST(CheapestAssignment, IsTheBestOfAll) {
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> costs(15);
    for (auto& cost : costs) cost = random.uniform(-1.0, 1.0);
    const auto sum_of = [&](const std::vector<int64_t>& columns) {
      double sum = 0.0;
      for (std::size_t row = 0; row < 3; ++row)
        sum += costs[row * 5 + static_cast<std::size_t>(columns[row])];
      return sum;
    };
    std::vector<int64_t> order(5);
    std::iota(order.begin(), order.end(), int64_t{0});
    double best = std::numeric_limits<double>::infinity();
    do best = std::min(best, sum_of(order));
    while (std::next_permutation(order.begin(), order.end()));
    const auto found = cheapest_assignment(costs, 3, 5);
    EXPECT_EQ(std::set<int64_t>(found.begin(), found.end()).size(), 3U);
    EXPECT_NEAR(sum_of(found), best, 1e-12);  // sums in another order
  }
}

TEST(CheapestAssignment, OfNothingIsNothing) {
  EXPECT_TRUE(cheapest_assignment({}, 0, 4).empty());
}

}  // namespace
}  // namespace partwise
