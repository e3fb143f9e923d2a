#include "partwise/metrics/permutations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace partwise::metrics {
namespace {

std::vector<int32_t> item(const Permutations::Composed& composed, std::size_t c) {
  std::vector<int32_t> order;
  for (const int32_t i : composed.seconds[c]) order.push_back(composed.first[i]);
  return order;
}

TEST(Permutations, HoldEveryItemOnce) {
  Permutations permutations(1);
  for (const int64_t size : {1, 2, 9, 100}) {
    const auto composed = permutations.of(0, size, 7, 4);
    for (std::size_t c = 0; c < 4; ++c) {
      const auto order = item(composed, c);
      EXPECT_EQ(std::set<int32_t>(order.begin(), order.end()).size(), size);
      EXPECT_EQ(*std::max_element(order.begin(), order.end()), size - 1);
    }
  }
}

// 24 orders of four items, 96,000 permutations over many seeds: 4000 each, deviation 62. Pairs of
// the same use and of neighbouring uses: 576 pairs of orders, 83 of each, deviation 9.1.
TEST(Permutations, AreUniformAndIndependentInPairs) {
  std::map<std::vector<int32_t>, int> single;
  std::map<std::vector<std::vector<int32_t>>, int> within;
  std::map<std::vector<std::vector<int32_t>>, int> between;
  for (uint64_t seed = 0; seed < 24'000; ++seed) {
    Permutations permutations(seed);
    const auto one = permutations.of(0, 4, 0, 2);
    const auto other = permutations.of(0, 4, 1, 2);
    for (std::size_t c = 0; c < 2; ++c) {
      ++single[item(one, c)];
      ++single[item(other, c)];
    }
    ++within[{item(one, 0), item(one, 1)}];
    ++within[{item(other, 0), item(other, 1)}];
    ++between[{item(one, 0), item(other, 0)}];
    ++between[{item(one, 1), item(other, 1)}];
  }
  const auto expect_even = [](const auto& counts, std::size_t kinds, double each) {
    EXPECT_EQ(counts.size(), kinds);
    double square = 0.0;
    for (const auto& [order, count] : counts) square += (count - each) * (count - each) / each;
    // Chi squared with kinds - 1 degrees of freedom: five deviations, as drawn by two are pooled.
    const auto degrees = static_cast<double>(kinds - 1);
    EXPECT_LT(square, degrees + 5.0 * std::sqrt(2.0 * degrees));
  };
  expect_even(single, 24, 4000.0);
  expect_even(within, 576, 48'000.0 / 576.0);
  expect_even(between, 576, 48'000.0 / 576.0);
}

TEST(Permutations, ComeBackAfterAllPairsOnly) {
  Permutations permutations(3);
  std::set<std::vector<int32_t>> seen;
  for (int64_t user = 0; user < 1024; ++user) {
    const auto composed = permutations.of(0, 40, user, 4);
    for (std::size_t c = 0; c < 4; ++c) seen.insert(item(composed, c));
  }
  EXPECT_EQ(seen.size(), 4096);
}

TEST(Permutations, DoNotDependOnWhoAskedBefore) {
  Permutations alone(3);
  Permutations late(3);
  late.of(0, 9, 70, 4);
  late.of(1, 9, 5, 4);
  EXPECT_EQ(item(alone.of(0, 9, 5, 4), 3), item(late.of(0, 9, 5, 4), 3));
}

}  // namespace
}  // namespace partwise::metrics
