#include "partwise/base/random.h"

#include "partwise/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace partwise {
namespace {

TEST(Random, MomentsAreThoseOfTheDistribution) {
  Random random(derive_seed({1, 2}));
  double sum = 0.0;
  double squares = 0.0;
  double normals = 0.0;
  double normal_squares = 0.0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    const double z = random.normal();
    sum += u;
    squares += u * u;
    normals += z;
    normal_squares += z * z;
  }
  // five standard errors of the mean at this sample size
  EXPECT_NEAR(sum / kDraws, 0.5, 0.0033);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3.0, 0.0034);
  EXPECT_NEAR(normals / kDraws, 0.0, 0.012);
  EXPECT_NEAR(normal_squares / kDraws, 1.0, 0.016);
}

TEST(Random, BelowCoversItsRangeEvenly) {
  Random random(7);
  std::vector<int> seen(6);
  for (int i = 0; i < 60000; ++i) ++seen[static_cast<std::size_t>(random.below(6))];
  for (const int count : seen) EXPECT_NEAR(count, 10000, 500);  // five standard deviations
}

TEST(Random, DerivedSeedsDependOnEveryKeyAndTheirOrder) {
  EXPECT_NE(derive_seed({1, 2}), derive_seed({2, 1}));
  EXPECT_NE(derive_seed({1, 2}), derive_seed({1, 2, 0}));
  EXPECT_EQ(derive_seed({1, 2}), derive_seed({1, 2}));
}

TEST(ParallelFor, VisitsEachIndexOnceAndPassesOnAnException) {
  std::vector<std::atomic<int>> visits(1000);
  parallel_for(1000, 4, [&](int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
  for (const auto& count : visits) EXPECT_EQ(count, 1);
  EXPECT_THROW(parallel_for(10, 3,
                            [](int64_t i) {
                              if (i == 5) throw std::runtime_error("x");
                            }),
               std::runtime_error);
  parallel_for(0, 2, [](int64_t) { FAIL(); });
}

}  // namespace
}  // namespace partwise
