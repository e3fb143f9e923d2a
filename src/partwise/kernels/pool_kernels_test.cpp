#include "partwise/kernels/pool_kernels.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace partwise::kernels {
namespace {

struct Sides {
  int64_t rows;
  int64_t columns;
};

constexpr Sides kSides[] = {{0, 4}, {1, 1},   {2, 2},   {2, 1},   {7, 7},  {8, 9},
                            {9, 8}, {16, 16}, {17, 33}, {14, 14}, {13, 13}};
constexpr int64_t kCount = 3;

// Of few different values, so that many windows have ties.
std::vector<float> drawn(int64_t count, Random& random, float step) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = step * std::round(4.0F * static_cast<float>(random.normal()));
  return values;
}

TEST(PoolKernels, PassTheGradientToTheFirstOfTheHighestCells) {
  Random random(7);
  for (const auto level : available_levels()) {
    const auto& kernels = pool_kernels(level);
    for (const auto& [rows, columns] : kSides) {
      const int64_t lines = rows / 2;
      const int64_t places = columns / 2;
      const auto values = drawn(kCount * rows * columns, random, 0.25F);
      const auto gradient = drawn(kCount * lines * places, random, 1.0F);
      std::vector<float> pooled(gradient.size(), -9.0F);
      std::vector<float> passed(values.size(), -9.0F);
      std::vector<float> expected(values.size(), 0.0F);
      for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 1}, {1, kCount}}) {
        const Planes planes{begin, end, rows, columns};
        kernels.pool(planes, values.data(), pooled.data());
        kernels.pass_back(planes, values.data(), pooled.data(), gradient.data(), passed.data());
      }
      for (int64_t plane = 0; plane < kCount; ++plane) {
        for (int64_t i = 0; i < lines; ++i) {
          for (int64_t j = 0; j < places; ++j) {
            const auto first = plane * rows * columns + 2 * i * columns + 2 * j;
            auto best = static_cast<std::size_t>(first);
            for (const int64_t step : {int64_t{1}, columns, columns + 1}) {
              const auto at = static_cast<std::size_t>(first + step);
              if (values[at] > values[best]) best = at;
            }
            const auto at = static_cast<std::size_t>((plane * lines + i) * places + j);
            EXPECT_EQ(pooled[at], values[best]) << word_of(level);
            expected[best] = gradient[at];
          }
        }
      }
      EXPECT_EQ(passed, expected) << word_of(level) << " " << rows << " x " << columns;
    }
  }
}

TEST(PoolKernels, KeepWhatIsNoNumber) {
  constexpr auto kNone = std::numeric_limits<float>::quiet_NaN();
  for (const auto level : available_levels()) {
    for (int at = 0; at < 4; ++at) {
      float values[4] = {1.0F, 2.0F, 3.0F, 4.0F};
      values[at] = kNone;
      float pooled = 0.0F;
      pool_kernels(level).pool({0, 1, 2, 2}, values, &pooled);
      EXPECT_TRUE(std::isnan(pooled));
    }
  }
}

}  // namespace
}  // namespace partwise::kernels
