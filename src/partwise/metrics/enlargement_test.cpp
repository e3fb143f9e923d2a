#include "partwise/metrics/enlargement.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace partwise::metrics {
namespace {

// Units at 1 and 5 of 8 pixels: pixels 0 and 1 are the first cell, 2, 3, 4 lie a quarter, a half,
// three quarters of the way, 5, 6, 7 are the second.
TEST(Enlargement, EqualsTheWorkedExample) {
  const Enlargement enlargement({.offset = 1.0, .stride = 4.0, .input_side = 8}, 2, 1);
  ASSERT_EQ(enlargement.side(), 8);
  std::vector<float> enlarged(64);
  enlargement.enlarge(std::vector<float>{0, 4, 8, 0}, enlarged);
  EXPECT_EQ(std::vector<float>(enlarged.begin(), enlarged.begin() + 8),
            (std::vector<float>{0, 0, 1, 2, 3, 4, 4, 4}));
  EXPECT_EQ(enlarged[3 * 8 + 3], 3.0F);  // the mean of all four
  EXPECT_EQ(enlarged[7 * 8 + 2], 6.0F);
  PixelSet region(8);
  enlargement.paint(std::vector<float>{0, 4, 8, 0}, 7.0F, region);
  EXPECT_EQ(region.area(),
            6);  // 8 in the lower left corner, 3 by 2 pixels; 7 beside it is not above
  EXPECT_TRUE(region.contains(1, 5));
}

TEST(Enlargement, LooksAtTheMiddleOfEveryStep) {
  const Enlargement enlargement({.offset = 1.0, .stride = 4.0, .input_side = 8}, 2, 4);
  ASSERT_EQ(enlargement.side(), 2);
  std::vector<float> enlarged(4);
  enlargement.enlarge(std::vector<float>{0, 4, 8, 0}, enlarged);  // pixels 2 and 6
  EXPECT_EQ(enlarged[0], 2.25F);                                  // 1 above, 6 below
  EXPECT_EQ(enlarged[3], 0.0F);
  PixelSet pixels(8);
  pixels.insert(6, 2);
  pixels.insert(7, 3);
  EXPECT_EQ(enlargement.sampled(pixels).area(), 1);
  EXPECT_TRUE(enlargement.sampled(pixels).contains(1, 0));
}

TEST(Enlargement, PaintsWhatIsAboveTheThresholdAndNothingElse) {
  Random random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t side = 1 + random.below(6);
    const int64_t step = 1 + random.below(3);
    const UnitGrid grid{random.uniform(-2, 6), random.uniform(2, 9), 10 + random.below(40)};
    const Enlargement enlargement(grid, side, step);
    std::vector<float> map(static_cast<std::size_t>(side * side));
    for (auto& value : map) {
      value = static_cast<float>(random.below(4));
      if (random.chance(0.1)) value = NAN;
    }
    const float threshold =
        static_cast<float>(random.below(3)) + (random.chance(0.5) ? 0.5F : 0.0F);
    std::vector<float> enlarged(static_cast<std::size_t>(enlargement.side() * enlargement.side()));
    enlargement.enlarge(map, enlarged);
    PixelSet region(enlargement.side());
    enlargement.paint(map, threshold, region);
    std::vector<float> high;
    enlargement.append_from(map, threshold, high);
    const auto not_below = [&](float value) { return value >= threshold; };
    EXPECT_EQ(std::count_if(high.begin(), high.end(), not_below),
              std::count_if(enlarged.begin(), enlarged.end(), not_below));
    for (int64_t y = 0; y < region.side(); ++y) {
      for (int64_t x = 0; x < region.side(); ++x)
        ASSERT_EQ(region.contains(x, y), enlarged[y * region.side() + x] > threshold);
    }
  }
}

}  // namespace
}  // namespace partwise::metrics
