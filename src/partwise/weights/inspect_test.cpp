#include "partwise/weights/inspect.h"

#include <gtest/gtest.h>

#include <limits>

namespace partwise::weights {
namespace {

using formats::Array;
using formats::Dtype;
using formats::make_array;
using formats::NamedArrays;

Array floats(std::vector<float> values) {
  return make_array(Dtype::f32, {static_cast<int64_t>(values.size())},
                    {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

NamedArrays example() {
  NamedArrays file;
  file.format = "PyTorch";
  file.arrays["conv.10.bias"] = floats({1.0F, 2.0F, std::numeric_limits<float>::quiet_NaN()});
  file.arrays["conv.2.bias"] = floats({-0.5F, 0.25F});
  file.metadata["source"] = "a\nb";
  file.skipped = {"epoch: the number 90"};
  return file;
}

TEST(Inspect, RangesLeaveOutWhatIsNotFinite) {
  const auto range = range_of(example().arrays.at("conv.10.bias"));
  EXPECT_EQ(range.min, 1.0);
  EXPECT_EQ(range.mean, 1.5);
  EXPECT_EQ(range.max, 2.0);
  EXPECT_EQ(range.not_finite, 1U);
  EXPECT_EQ(range_of(make_array(Dtype::f32, {0}, "")).max, 0.0);
  EXPECT_EQ(range_of(make_array(Dtype::u8, {200'000}, std::string(200'000, '\3'))).mean, 3.0);
}

TEST(Inspect, TheTextHasOneLineAnArray) {
  EXPECT_EQ(
      summary_text(example(), "net.pth"),
      "net.pth: PyTorch, 2 arrays, 5 numbers, 0.0 KiB\n"
      "  conv.2.bias   F32   [2]  min -0.5       mean -0.125     max 0.25\n"
      "  conv.10.bias  F32   [3]  min 1          mean 1.5        max 2          1 NOT FINITE\n"
      "metadata\n"
      "  source: a\\x0ab\n"
      "skipped, as they are no arrays of the network\n"
      "  epoch: the number 90\n");
}

TEST(Inspect, TheJsonHasTheSame) {
  const auto json = summary_json(example());
  EXPECT_EQ(json["format"], "PyTorch");
  EXPECT_EQ(json["arrays"].size(), 2U);
  EXPECT_EQ(json["arrays"][0]["name"], "conv.2.bias");
  EXPECT_EQ(json["arrays"][0]["shape"], nlohmann::json::array({2}));
  EXPECT_EQ(json["arrays"][1]["not_finite"], 1);
  EXPECT_EQ(json["metadata"]["source"], "a\nb");
}

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
