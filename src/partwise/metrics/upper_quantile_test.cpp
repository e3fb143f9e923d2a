#include "partwise/metrics/upper_quantile.h"

#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace partwise::metrics {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const std::vector<int64_t> kOne{1};

// The threshold the long way: sorted, NaN for -inf.
float upper_quantile(std::vector<float> values, double share) {
  if (values.empty()) return 0.0F;
  for (auto& value : values) value = std::isnan(value) ? -kInfinity : value == 0.0F ? 0.0F : value;
  std::sort(values.begin(), values.end(), std::greater<>());
  return values[values_above(share, std::ssize(values))];
}

// 16 values: 9 once, 5 five times, 0 ten times. Four cannot lie above, one can: 5. Six lie above 0,
// as do seven that cannot. Of 1/32 none may: 9.
TEST(UpperQuantile, TakesAsManyAsTiesAllow) {
  const std::vector<float> values{5, 0, -0.0F, 5, 0, 9, 0, 0, 0, 5, 5, 0, 0, 0, 0, 5};
  const auto threshold = [&](double share) {
    auto copy = values;
    return upper_quantile(copy, share);
  };
  EXPECT_EQ(threshold(4.0 / 16.0), 5.0F);
  EXPECT_EQ(threshold(6.0 / 16.0), 0.0F);
  EXPECT_EQ(threshold(7.0 / 16.0), 0.0F);
  EXPECT_EQ(threshold(1.0 / 32.0), 9.0F);
  EXPECT_FALSE(std::signbit(threshold(0.99)));
}

TEST(UpperQuantile, PutsNaNBelowEverything) {
  std::vector<float> values{NAN, -3, NAN, -2};
  EXPECT_EQ(upper_quantile(values, 0.25), -3.0F);
  std::vector<float> half{NAN, -3, NAN, -2};
  EXPECT_EQ(upper_quantile(half, 0.5), -kInfinity);
}

TEST(UpperQuantile, OfNothingIsZero) {
  std::vector<float> none;
  EXPECT_EQ(upper_quantile(none, 0.5), 0.0F);
  EXPECT_THROW(UpperQuantiles(kOne, 1.0), std::logic_error);
}

// 0.005 * 200 is a rounding error away from 1.
TEST(ValuesAbove, ForgivesARoundingError) {
  EXPECT_EQ(values_above(0.005, 200), 1);
  EXPECT_EQ(values_above(0.29, 100), 29);
  EXPECT_EQ(values_above(0.005, 199), 0);
}

float awkward(Random& random) {
  switch (random.below(8)) {
    case 0:
      return 0.0F;
    case 1:
      return -0.0F;
    case 2:
      return NAN;
    case 3:
      return random.chance(0.5) ? kInfinity : -kInfinity;
    case 4:
      return std::numeric_limits<float>::denorm_min() * static_cast<float>(random.below(4));
    case 5:
      return static_cast<float>(random.below(5)) - 2.0F;
    default:
      return static_cast<float>(random.normal() * std::exp(10.0 * random.normal()));
  }
}

TEST(UpperQuantiles, EqualASortToTheLastBit) {
  Random random(3);
  for (const double share : {0.0, 0.005, 0.1, 0.5, 0.9}) {
    std::vector<std::vector<float>> streams(40);
    for (auto& values : streams) {
      values.resize(static_cast<std::size_t>(random.below(700)));
      for (auto& value : values) value = awkward(random);
    }
    std::vector<int64_t> sizes;
    for (const auto& values : streams) sizes.push_back(std::ssize(values));
    UpperQuantiles quantiles(sizes, share);
    do {
      for (int64_t s = 0; s < std::ssize(streams); ++s) quantiles.add(s, streams[s]);
    } while (quantiles.end_pass());
    for (int64_t s = 0; s < std::ssize(streams); ++s) {
      const float wanted = upper_quantile(streams[s], share);
      EXPECT_EQ(quantiles.threshold(s), wanted);
      EXPECT_EQ(std::signbit(quantiles.threshold(s)), std::signbit(wanted));
    }
  }
}

TEST(UpperQuantiles, DoNotDependOnOrderOrPieces) {
  Random random(4);
  std::vector<float> values(999);
  for (auto& value : values) value = awkward(random);
  const std::vector<int64_t> sizes{999};
  UpperQuantiles whole(sizes, 0.01);
  UpperQuantiles pieces(sizes, 0.01);
  bool more = true;
  while (more) {
    whole.add(0, values);
    shuffle(values, random);
    for (std::size_t i = 0; i < 999; i += 37) pieces.add(0, std::span(values).subspan(i, 37));
    pieces.end_pass();
    more = whole.end_pass();
  }
  EXPECT_EQ(whole.threshold(0), pieces.threshold(0));
}

TEST(UpperQuantiles, DoNotNeedWhatLiesBelowTheirBound) {
  Random random(7);
  for (const double share : {0.01, 0.4, 0.95}) {
    std::vector<float> values(500);
    for (auto& value : values) value = awkward(random);
    UpperQuantiles quantiles(std::vector<int64_t>{500}, share);
    do {
      for (const float value : values) {
        if (value >= quantiles.needed_from(0)) quantiles.add(0, {&value, 1});
      }
    } while (quantiles.end_pass());
    EXPECT_EQ(quantiles.threshold(0), upper_quantile(values, share));
  }
}

// Of 10,000 ascending values a hundred may lie above the threshold: from then on only they count.
TEST(UpperQuantiles, RaiseTheirBoundInTheFirstPass) {
  UpperQuantiles quantiles(std::vector<int64_t>{10'000}, 0.01);
  for (int i = 0; i < 10'000; ++i) {
    const auto value = static_cast<float>(i);
    quantiles.add(0, {&value, 1});
  }
  EXPECT_GT(quantiles.needed_from(0), 9000.0F);
  EXPECT_LE(quantiles.needed_from(0), 9899.0F);
}

TEST(UpperQuantiles, NeedEveryPass) {
  UpperQuantiles quantiles(std::vector<int64_t>{0}, 0.5);
  EXPECT_THROW(static_cast<void>(quantiles.threshold(0)), std::logic_error);
  EXPECT_TRUE(quantiles.end_pass());
  EXPECT_TRUE(quantiles.end_pass());
  EXPECT_FALSE(quantiles.end_pass());
  EXPECT_EQ(quantiles.threshold(0), 0.0F);
  EXPECT_THROW(quantiles.add(0, {}), std::logic_error);
}

}  // namespace
}  // namespace partwise::metrics
