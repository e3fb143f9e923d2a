#include "partwise/formats/convert.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace partwise::formats {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename Number>
std::string bytes_of(std::initializer_list<Number> numbers) {
  std::string bytes;
  for (const Number number : numbers) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return bytes;
}

template <typename Number>
Array array_of(Dtype dtype, std::initializer_list<Number> numbers) {
  return make_array(dtype, {static_cast<int64_t>(numbers.size())}, bytes_of(numbers));
}

TEST(Half, EveryPatternSurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = float_from_f16(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_f16(f16_from_float(value)))) << bits;
      EXPECT_EQ(f16_from_float(value) & 0x8000U, bits & 0x8000U) << bits;
    } else {
      EXPECT_EQ(f16_from_float(value), half) << bits;
    }
    const float brain = float_from_bf16(half);
    if (!std::isnan(brain)) {
      EXPECT_EQ(bf16_from_float(brain), half) << bits;
    }
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(float_from_f16(0x3C00), 1.0F);
  EXPECT_EQ(float_from_f16(0xC000), -2.0F);
  EXPECT_EQ(float_from_f16(0x7BFF), 65504.0F);
  EXPECT_EQ(float_from_f16(0x0001), 0x1.0p-24F);
  EXPECT_EQ(float_from_f16(0x0400), 0x1.0p-14F);
  EXPECT_EQ(float_from_f16(0xFC00), -kInfinity);
  EXPECT_TRUE(std::signbit(float_from_f16(0x8000)));
}

// Between any two neighbours: the middle goes to the even one, what is beside it to the nearer one.
TEST(Half, RoundsToNearestEvenEverywhere) {
  for (uint16_t low = 0; low < 0x7BFF; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const float middle = (float_from_f16(low) + float_from_f16(high)) / 2;  // exact in float32
    const uint16_t even = (low & 1U) == 0 ? low : high;
    ASSERT_EQ(f16_from_float(middle), even) << low;
    ASSERT_EQ(f16_from_float(-middle), even | 0x8000U) << low;
    ASSERT_EQ(f16_from_float(std::nextafter(middle, 0.0F)), low) << low;
    ASSERT_EQ(f16_from_float(std::nextafter(middle, kInfinity)), high) << low;
  }
}

TEST(Half, WhatDoesNotFitBecomesInfinityOrZero) {
  EXPECT_EQ(f16_from_float(65519.996F), 0x7BFF);
  EXPECT_EQ(f16_from_float(65520.0F), 0x7C00);
  EXPECT_EQ(f16_from_float(1e30F), 0x7C00);
  EXPECT_EQ(f16_from_float(-kInfinity), 0xFC00);
  EXPECT_EQ(f16_from_float(0x1.0p-25F), 0);
  EXPECT_EQ(f16_from_float(std::nextafter(0x1.0p-25F, 1.0F)), 1);
  EXPECT_EQ(f16_from_float(-1e-40F), 0x8000);
}

TEST(BrainFloat, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(bf16_from_float(1.0F), 0x3F80);
  EXPECT_EQ(bf16_from_float(std::bit_cast<float>(0x3F808000U)), 0x3F80);
  EXPECT_EQ(bf16_from_float(std::bit_cast<float>(0x3F818000U)), 0x3F82);
  EXPECT_EQ(bf16_from_float(std::bit_cast<float>(0x3F808001U)), 0x3F81);
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(std::bit_cast<float>(0x7F800001U)))));
}

TEST(Convert, EveryTypeBecomesFloat) {
  const std::vector<float> expected{-3.0F, 0.0F, 7.0F};
  EXPECT_EQ(floats_of(array_of<double>(Dtype::f64, {-3, 0, 7})), expected);
  EXPECT_EQ(floats_of(array_of<float>(Dtype::f32, {-3, 0, 7})), expected);
  EXPECT_EQ(floats_of(array_of<uint16_t>(Dtype::f16, {0xC200, 0, 0x4700})), expected);
  EXPECT_EQ(floats_of(array_of<uint16_t>(Dtype::bf16, {0xC040, 0, 0x40E0})), expected);
  EXPECT_EQ(floats_of(array_of<uint8_t>(Dtype::f8_e5m2, {0xC2, 0, 0x47})), expected);
  EXPECT_EQ(floats_of(array_of<uint8_t>(Dtype::f8_e4m3, {0xC4, 0, 0x4E})), expected);
  EXPECT_EQ(floats_of(array_of<int64_t>(Dtype::i64, {-3, 0, 7})), expected);
  EXPECT_EQ(floats_of(array_of<int32_t>(Dtype::i32, {-3, 0, 7})), expected);
  EXPECT_EQ(floats_of(array_of<int16_t>(Dtype::i16, {-3, 0, 7})), expected);
  EXPECT_EQ(floats_of(array_of<int8_t>(Dtype::i8, {-3, 0, 7})), expected);
  const std::vector<float> natural{0.0F, 1.0F};
  EXPECT_EQ(floats_of(array_of<uint64_t>(Dtype::u64, {0, 1})), natural);
  EXPECT_EQ(floats_of(array_of<uint32_t>(Dtype::u32, {0, 1})), natural);
  EXPECT_EQ(floats_of(array_of<uint16_t>(Dtype::u16, {0, 1})), natural);
  EXPECT_EQ(floats_of(array_of<uint8_t>(Dtype::u8, {0, 1})), natural);
  EXPECT_EQ(floats_of(array_of<uint8_t>(Dtype::boolean, {0, 9})), natural);
}

TEST(Convert, EightBitFloatsReachTheirPublishedLimits) {
  EXPECT_EQ(floats_of(array_of<uint8_t>(Dtype::f8_e4m3, {0x7E, 0x01, 0x08})),
            (std::vector<float>{448.0F, 0x1.0p-9F, 0x1.0p-6F}));
  EXPECT_TRUE(std::isnan(floats_of(array_of<uint8_t>(Dtype::f8_e4m3, {0xFF}))[0]));
  EXPECT_EQ(floats_of(array_of<uint8_t>(Dtype::f8_e5m2, {0x7B, 0x7C}))[0], 57344.0F);
}

TEST(Convert, IntegersStayAndFloatsFollow) {
  NamedArrays file;
  file.arrays["weight"] = array_of<float>(Dtype::f32, {1.0F, -kInfinity});
  file.arrays["steps"] = array_of<int64_t>(Dtype::i64, {1'000'003});
  convert_floats(file, Dtype::f16, "a.pth");
  EXPECT_EQ(file.arrays["weight"].dtype, Dtype::f16);
  EXPECT_EQ(file.arrays["weight"].bytes, bytes_of<uint16_t>({0x3C00, 0xFC00}));
  EXPECT_EQ(file.arrays["steps"].dtype, Dtype::i64);
  EXPECT_EQ(file.arrays["steps"].bytes, bytes_of<int64_t>({1'000'003}));
}

TEST(Convert, ANumberThatDoesNotFitIsNamed) {
  const auto complaint = [](const Array& array, Dtype to) -> std::string {
    NamedArrays file;
    file.arrays["var"] = array;
    try {
      convert_floats(file, to, "a.pth");
      return "converted";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(complaint(array_of<float>(Dtype::f32, {1.0F, 70000.0F}), Dtype::f16),
            "a.pth: array var holds 70000, too large for F16; use bf16 or f32");
  EXPECT_EQ(complaint(array_of<double>(Dtype::f64, {1e300}), Dtype::f32),
            "a.pth: array var holds 1e+300, too large for F32; use bf16 or f32");
}

}  // namespace
}  // namespace partwise::formats
