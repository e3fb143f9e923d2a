#include "partwise/images/resize.h"

#include "partwise/base/random.h"
#include "partwise/images/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace partwise::images {
namespace {

Image noise(int64_t width, int64_t height) {
  Random random(3);
  auto image = Image::blank(width, height);
  for (auto& value : image.pixels) value = static_cast<uint8_t>(random.below(256));
  return image;
}

// The definition, one output value at a time: a weighted mean over the whole window.
double reference(const Image& image,
                 const Window& window,
                 int64_t to_width,
                 int64_t to_height,
                 int64_t x,
                 int64_t y,
                 int channel) {
  const auto weight = [](int64_t from, int64_t to, int64_t out, int64_t in) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const double centre = (static_cast<double>(out) + 0.5) * scale;
    const double away = std::abs(static_cast<double>(in) + 0.5 - centre) / std::max(scale, 1.0);
    return std::max(0.0, 1.0 - away);
  };
  double sum = 0.0;
  double total = 0.0;
  for (int64_t v = 0; v < window.height; ++v) {
    for (int64_t u = 0; u < window.width; ++u) {
      const double w =
          weight(window.width, to_width, x, u) * weight(window.height, to_height, y, v);
      sum += w * image.at(window.x + u, window.y + v)[channel];
      total += w;
    }
  }
  return sum / total;
}

void expect_matches_reference(const Image& image,
                              const Window& window,
                              int64_t width,
                              int64_t height) {
  const auto resized = resize_antialiased(image, window, width, height);
  ASSERT_EQ(resized.width, width);
  ASSERT_EQ(resized.height, height);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        // Rounding to whole grey levels is half a level; single precision adds a trace.
        ASSERT_NEAR(resized.at(x, y)[c], reference(image, window, width, height, x, y, c), 0.501);
      }
    }
  }
}

TEST(Resize, MatchesTheDefinition) {
  const auto image = noise(37, 29);
  expect_matches_reference(image, {0, 0, 37, 29}, 11, 7);   // shrink
  expect_matches_reference(image, {0, 0, 37, 29}, 64, 50);  // grow
  expect_matches_reference(image, {0, 0, 37, 29}, 12, 61);  // one of each
  expect_matches_reference(image, {5, 3, 20, 21}, 16, 16);  // a window does not see outside
  expect_matches_reference(image, {36, 28, 1, 1}, 4, 3);    // one pixel
  expect_matches_reference(image, {0, 0, 37, 29}, 1, 1);
}

TEST(Resize, SameSizeIsTheSameImage) {
  const auto image = noise(19, 23);
  EXPECT_EQ(resize_antialiased(image, {0, 0, 19, 23}, 19, 23).pixels, image.pixels);
}

TEST(Resize, HalvingARowGivesPillowsValues) {
  // Pillow: the taps of a triangle of support 2 over 4 pixels, normalised at the borders:
  // out[0] = (0.75 a + 0.75 b + 0.25 c) / 1.75, worked by hand.
  auto image = Image::blank(4, 1);
  const uint8_t row[4] = {0, 70, 140, 210};
  for (int64_t x = 0; x < 4; ++x) std::fill_n(image.at(x, 0), 3, row[x]);
  const auto half = resize_antialiased(image, {0, 0, 4, 1}, 2, 1);
  EXPECT_EQ(half.at(0, 0)[0], 50);
  EXPECT_EQ(half.at(1, 0)[0], 160);
}

TEST(Resize, AReducedImageOfBlocksGivesTheSameAsTheWhole) {
  // Where every block is of one colour the reduced image says all of the whole one.
  const auto blocks = noise(12, 9);
  auto whole = Image::blank(48, 36);
  for (int64_t y = 0; y < 36; ++y) {
    for (int64_t x = 0; x < 48; ++x) std::copy_n(blocks.at(x / 4, y / 4), 3, whole.at(x, y));
  }
  for (const Window& window : {Window{0, 0, 48, 36}, Window{5, 3, 41, 30}, Window{7, 6, 1, 1}}) {
    const auto exact = resize_antialiased(whole, window, 7, 5);
    const auto folded = resize_antialiased(ReducedImage{blocks, 4, 48, 36}, window, 7, 5);
    for (std::size_t i = 0; i < exact.pixels.size(); ++i) {
      EXPECT_NEAR(folded.pixels[i], exact.pixels[i], 1);  // sums in another order, then rounded
    }
  }
}

TEST(Resize, AllKernelsGiveTheSameBits) {
  const auto image = noise(75, 61);
  for (const Window& window : {Window{0, 0, 75, 61}, Window{5, 3, 41, 30}, Window{74, 60, 1, 1},
                               Window{0, 0, 75, 1}, Window{1, 0, 2, 61}}) {
    for (const int64_t reduction : {1, 2, 8}) {
      const Window seen{reduction * window.x, reduction * window.y, reduction * window.width - 1,
                        reduction * window.height};
      if (seen.width == 0) continue;
      for (const int64_t side : {1, 2, 10, 11, 32, 43, 224}) {  // with and without a rest of blocks
        EXPECT_EQ(
            resize_with(fastest_row_kernels(), image, seen, side, side + 1, reduction).pixels,
            resize_with(portable_row_kernels(), image, seen, side, side + 1, reduction).pixels)
            << window.width << " x " << window.height << " at 1/" << reduction << " to " << side;
      }
    }
  }
}

TEST(Resize, APieceOfThePictureStandsForIt) {
  const auto image = noise(40, 30);
  const Window window{13, 9, 20, 17};
  ReducedImage piece{Image::blank(24, 19), 1, 40, 30, 10, 8};
  for (int64_t y = 0; y < 19; ++y) std::copy_n(image.at(10, 8 + y), 3 * 24, piece.image.at(0, y));
  EXPECT_EQ(resize_antialiased(piece, window, 16, 16).pixels,
            resize_antialiased(image, window, 16, 16).pixels);
}

TEST(Resize, ReductionLeavesThreePixelsForOne) {
  EXPECT_EQ(reduction_for({0, 0, 500, 375}, 224, 224), 1);
  EXPECT_EQ(reduction_for({0, 0, 600, 600}, 100, 100), 2);
  EXPECT_EQ(reduction_for({0, 0, 600, 599}, 100, 100), 1);
  EXPECT_EQ(reduction_for({0, 0, 4032, 3024}, 224, 224), 4);
  EXPECT_EQ(reduction_for({0, 0, 9000, 9000}, 64, 64), 8);
}

TEST(Resize, AWindowOutsideTheImageIsOurBug) {
  const auto image = noise(8, 8);
  EXPECT_THROW(resize_antialiased(image, {4, 0, 5, 8}, 2, 2), std::logic_error);
  EXPECT_THROW(resize_antialiased(image, {0, 0, 8, 8}, 0, 2), std::logic_error);
}

}  // namespace
}  // namespace partwise::images
