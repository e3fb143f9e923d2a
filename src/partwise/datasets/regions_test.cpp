#include "partwise/datasets/regions.h"

#include "partwise/base/error.h"
#include "partwise/base/random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace partwise::datasets {
namespace {

using nlohmann::json;

TEST(RunLengthMask, CountsColumnsFirstStartingWithZeros) {
  // 1 0 1
  // 1 1 0   as columns: 1 1 | 0 1 | 1 0
  const auto mask = encode_mask({1, 0, 1, 1, 1, 0}, 3, 2);
  EXPECT_EQ(mask.counts, (std::vector<uint32_t>{0, 2, 1, 2, 1}));
  EXPECT_EQ(mask_area(mask), 4);
}

TEST(RunLengthMask, TextIsWhatCocoWrites) {
  // Worked by hand from COCO's rule: 6 -> '6'; 1 -> '1'; 40 = 8 + 1 * 32 -> 'X1'; then differences
  // to two before: 4 - 1 = 3 -> '3'; 49 - 40 = 9 -> '9'; 0 - 4 = -4 -> 28 -> 'L'.
  const RunLengthMask mask{10, 10, {6, 1, 40, 4, 49, 0}};
  EXPECT_EQ(mask_to_json(mask)["counts"], "61X139L");
  EXPECT_EQ(mask_to_json(mask)["size"], json({10, 10}));
}

TEST(RunLengthMask, ComesBackFromPixelsAndFromText) {
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    const int64_t width = 1 + random.below(70);
    const int64_t height = 1 + random.below(70);
    std::vector<uint8_t> pixels(static_cast<std::size_t>(width * height));
    const double density = random.uniform();
    uint8_t value = 0;
    for (auto& pixel : pixels) {
      if (random.chance(density)) value ^= 1U;
      pixel = value;
    }
    const auto mask = encode_mask(pixels, width, height);
    EXPECT_EQ(decode_mask(mask), pixels);
    EXPECT_EQ(mask_area(mask), std::accumulate(pixels.begin(), pixels.end(), int64_t{0}));
    EXPECT_EQ(mask_from_json(mask_to_json(mask), "m").counts, mask.counts);
    const json list{{"size", {height, width}}, {"counts", mask.counts}};
    EXPECT_EQ(mask_from_json(list, "m").counts, mask.counts);
  }
}

TEST(RunLengthMask, WrongJsonIsAnErrorThatNamesThePlace) {
  const json wrong[] = {
      json(),
      json(3),
      json::array(),
      {{"size", {2, 2}}},
      {{"size", {2}}, {"counts", {4}}},
      {{"size", {2, -2}}, {"counts", {4}}},
      {{"size", {1e30, 2}}, {"counts", {4}}},
      {{"size", {2, 2}}, {"counts", {3}}},
      {{"size", {2, 2}}, {"counts", {2, 3}}},
      {{"size", {2, 2}}, {"counts", {-1, 5}}},
      {{"size", {2, 2}}, {"counts", {18446744073709551615ULL, 5}}},
      {{"size", {2, 2}}, {"counts", {"4"}}},
      {{"size", {2, 2}}, {"counts", 4}},
      {{"size", {2, 2}}, {"counts", ""}},
      {{"size", {2, 2}}, {"counts", "T"}},
      {{"size", {2, 2}}, {"counts", "ooooooooooooooooo"}},
      {{"size", {2, 2}}, {"counts", "\x01"}},
      {{"size", {2, 2}}, {"counts", "O"}},
  };
  for (const auto& value : wrong) {
    try {
      mask_from_json(value, "here");
      ADD_FAILURE() << value;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("here: ", 0), 0U) << error.what();
    }
  }
}

std::vector<uint8_t> filled(const std::vector<Point>& corners, int64_t width, int64_t height) {
  std::vector<uint8_t> pixels(static_cast<std::size_t>(width * height), 0);
  fill_polygon(corners, width, height, pixels);
  return pixels;
}

TEST(Polygon, ARectangleOnPixelEdgesFillsItsPixels) {
  EXPECT_EQ(filled({{1, 0}, {3, 0}, {3, 2}, {1, 2}}, 4, 3),
            (std::vector<uint8_t>{0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0}));
}

TEST(Polygon, NeighboursShareNoPixelAndLeaveNoGap) {
  const auto left = filled({{0, 0}, {7, 0}, {3, 10}, {0, 10}}, 10, 10);
  const auto right = filled({{7, 0}, {10, 0}, {10, 10}, {3, 10}}, 10, 10);
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i] + right[i], 1) << i;
}

TEST(Polygon, WhatLiesOutsideIsCutOff) {
  const auto pixels = filled({{-5, -5}, {20, -5}, {20, 20}, {-5, 20}}, 3, 3);
  EXPECT_EQ(std::accumulate(pixels.begin(), pixels.end(), 0), 9);
  EXPECT_EQ(filled({}, 2, 2), std::vector<uint8_t>(4, 0));
  EXPECT_EQ(filled({{1, 1}}, 2, 2), std::vector<uint8_t>(4, 0));
}

}  // namespace
}  // namespace partwise::datasets
