#include "partwise/weights/natural_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partwise::weights {
namespace {

TEST(NaturalOrder, NumbersCountAsNumbers) {
  EXPECT_TRUE(natural_less("features.2.weight", "features.10.weight"));
  EXPECT_FALSE(natural_less("features.10.weight", "features.2.weight"));
  EXPECT_TRUE(natural_less("conv1.bias", "conv1.weight"));
  EXPECT_TRUE(natural_less("conv", "conv1"));
  EXPECT_TRUE(natural_less("a99999999999999999999999", "a100000000000000000000000"));
}

TEST(NaturalOrder, DifferentTextsAreNeverEqual) {
  const std::vector<std::string> texts{"", "0", "00", "a", "a0", "a00", "a1", "a01", "a1b", "a01b"};
  for (const auto& a : texts) {
    for (const auto& b : texts) {
      EXPECT_EQ(natural_less(a, b) || natural_less(b, a), a != b) << a << ' ' << b;
      EXPECT_FALSE(natural_less(a, b) && natural_less(b, a)) << a << ' ' << b;
    }
  }
}

}  // namespace
}  // namespace partwise::weights
