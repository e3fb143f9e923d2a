#include "partwise/datasets/regions.h"

#include <gtest/gtest.h>

#include <numeric>

namespace partwise::datasets {
namespace {

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
