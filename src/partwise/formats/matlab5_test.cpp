#include "partwise/base/error.h"
#include "partwise/formats/matlab.h"

#include <gtest/gtest.h>

#include <zlib.h>

namespace partwise::formats {
namespace {

template <typename Number>
std::string packed(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string element(uint32_t type, const std::string& bytes) {
  return packed(type) + packed(static_cast<uint32_t>(bytes.size())) + bytes +
         std::string((8 - bytes.size() % 8) % 8, '\0');
}

std::string matrix(uint32_t flags,
                   const std::vector<int32_t>& extents,
                   const std::string& name,
                   const std::string& rest) {
  std::string sizes;
  for (const int32_t extent : extents) sizes += packed(extent);
  return element(14, element(6, packed(flags) + packed(uint32_t{0})) + element(5, sizes) +
                         element(1, name) + rest);
}

std::string file_of(const std::string& elements) {
  std::string header = "MATLAB 5.0 MAT-file, by hand";
  header.resize(124, ' ');
  return header + std::string("\0\1IM", 4) + elements;
}

MatlabVariables parsed(const std::string& elements) {
  return parse_matlab5(bytes_in_memory("x.mat", file_of(elements)));
}

std::string reason(const std::string& elements) {
  try {
    parsed(elements);
    return "read";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Matlab5, WholeNumbersStoredNarrowBecomeWhatTheyAre) {
  const auto variables =
      parsed(matrix(6, {1, 3}, "d", element(2, "\1\2\3")) +
             matrix(7, {1, 2}, "s", element(3, packed(int16_t{-5}) + packed(int16_t{7}))) +
             matrix(9 | 0x0200U, {1, 2}, "l", element(2, std::string("\1\0", 2))));
  EXPECT_EQ(variables.at("d").dtype, Dtype::f64);
  EXPECT_EQ(variables.at("d").bytes, packed(1.0) + packed(2.0) + packed(3.0));
  EXPECT_EQ(variables.at("s").dtype, Dtype::f32);
  EXPECT_EQ(variables.at("s").bytes, packed(-5.0F) + packed(7.0F));
  EXPECT_EQ(variables.at("l").dtype, Dtype::boolean);
}

TEST(Matlab5, SmallElementsShareTheirTag) {
  const auto small = packed(uint16_t{7}) + packed(uint16_t{4}) + packed(2.5F);
  EXPECT_EQ(parsed(matrix(7, {1, 1}, "x", small)).at("x").bytes, packed(2.5F));
}

TEST(Matlab5, WhatIsNotNumbersIsThereAsOther) {
  const auto variables =
      parsed(matrix(5, {2, 2}, "sparse", "") + matrix(16, {1, 1}, "function", "") +
             matrix(6 | 0x0800U, {1, 1}, "complex", ""));
  for (const char* name : {"sparse", "function", "complex"}) {
    EXPECT_EQ(variables.at(name).kind, MatlabValue::Kind::other) << name;
  }
}

TEST(Matlab5, DamageIsRefusedInOneLine) {
  EXPECT_EQ(reason(matrix(6, {-1, 2}, "x", "")), "x.mat: damaged: an array of extent -1");
  EXPECT_EQ(reason(matrix(6, {2, 2}, "x", element(9, packed(1.0)))),
            "x.mat: damaged: 8 bytes of F64 for 4 numbers");
  EXPECT_EQ(reason(matrix(1, {2'000'000'000, 2'000'000'000}, "x", "")),
            "x.mat: damaged: 4000000000000000000 values in 0 bytes");
  EXPECT_EQ(reason(matrix(1, {2'000'000'000, 2'000'000'000, 2'000'000'000}, "x", "")),
            "x.mat: damaged: impossible extents of x");
  EXPECT_EQ(reason(matrix(2, {2'000'000'000, 1'000'000'000}, "x",
                          element(5, packed(uint32_t{1})) + element(1, "abcdefgh"))),
            "x.mat: damaged: 2000000000000000000 structures in 0 bytes");
  EXPECT_EQ(reason(matrix(2, {1, 1}, "x", element(5, packed(uint32_t{0})) + element(1, "ab"))),
            "x.mat: damaged: field names of width 0 in 2 bytes");
  EXPECT_EQ(reason(element(14, element(9, "12345678"))),
            "x.mat: damaged: type 9 where array flags should be");
  std::string deep = matrix(1, {0, 0}, "", "");
  for (int i = 0; i < 40; ++i) deep = matrix(1, {1, 1}, "", deep);
  EXPECT_EQ(reason(deep), "x.mat: refused: nested more than 32 deep");
  auto big = file_of("");
  std::swap(big[126], big[127]);
  EXPECT_THROW(parse_matlab5(bytes_in_memory("x.mat", big)), Error);
}

TEST(Matlab5, ABombDoesNotGoOff) {
  const std::string zeros(std::size_t{64} << 20U, '\0');
  uLongf size = compressBound(zeros.size());
  std::string bytes(size, '\0');
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                     reinterpret_cast<const Bytef*>(zeros.data()), zeros.size()),
            Z_OK);
  bytes.resize(size);
  EXPECT_EQ(inflated(bytes, zeros.size() + 1, "x").size(), zeros.size());
  const auto bomb = packed(uint32_t{15}) + packed(static_cast<uint32_t>(size)) + bytes;
  EXPECT_NE(reason(bomb).find("refused: it decompresses to more than"), std::string::npos);
}

TEST(Matlab5, CutOffCompressedDataAreNoticed) {
  std::string bytes(200, '\0');
  uLongf size = bytes.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                     reinterpret_cast<const Bytef*>("abcabcabd"), 9),
            Z_OK);
  for (std::size_t keep = 0; keep < size; ++keep) {
    EXPECT_THROW(inflated(bytes.substr(0, keep), 1000, "x"), Error) << keep;
  }
  EXPECT_EQ(inflated(bytes.substr(0, size), 1000, "x"), "abcabcabd");
}

}  // namespace
}  // namespace partwise::formats
