#include "partwise/weights/match.h"

#include <gtest/gtest.h>

namespace partwise::weights {
namespace {

using formats::Dtype;
using formats::make_array;
using formats::NamedArrays;

NamedArrays given(const std::vector<Wanted>& arrays) {
  NamedArrays file;
  for (const auto& [name, shape] : arrays) {
    file.arrays[name] =
        make_array(Dtype::u8, shape, std::string(*byte_count(Dtype::u8, shape), 'x'));
  }
  return file;
}

TEST(Match, EqualNamesAndShapesAreComplete) {
  const std::vector<Wanted> wanted{{"a", {2, 3}}, {"b", {}}};
  const auto result = match(wanted, given(wanted));
  EXPECT_TRUE(result.complete());
  EXPECT_EQ(result.found, 2U);
  EXPECT_EQ(describe(result), "");
}

TEST(Match, DifferencesAreListedWithTheNearestName) {
  const std::vector<Wanted> wanted{
      {"conv1.weight", {4, 3}}, {"conv1.bias", {4}}, {"conv2.bias", {5}}, {"fc.bias", {9}}};
  const auto file = given({{"conv_1.weight", {4, 3}},
                           {"conv1.weighs", {9, 9}},
                           {"conv1.bias", {4}},
                           {"conv2.bias", {1, 5}}});
  const auto result = match(wanted, file);
  EXPECT_FALSE(result.complete());
  EXPECT_EQ(describe(result),
            "missing conv1.weight [4, 3] (did you mean conv_1.weight?)\n"
            "missing fc.bias [9] (did you mean conv1.weighs?)\n"
            "misshaped conv2.bias: [1, 5], expected [5]\n"
            "surplus conv1.weighs\n"
            "surplus conv_1.weight\n");
}

TEST(Match, LongListsAreCut) {
  std::vector<Wanted> wanted;
  for (int i = 0; i < 100; ++i) wanted.push_back({"layer" + std::to_string(i), {1}});
  const auto text = describe(match(wanted, {}), 2);
  EXPECT_EQ(text, "missing layer0 [1]\nmissing layer1 [1]\n... and 98 more\n");
}

TEST(Match, ExtraArraysAloneAreNoObstacle) {
  const std::vector<Wanted> wanted{{"a", {1}}};
  EXPECT_TRUE(match(wanted, given({{"a", {1}}, {"b", {1}}})).complete());
}

}  // namespace
}  // namespace partwise::weights
