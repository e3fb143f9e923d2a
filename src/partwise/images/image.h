#pragma once

#include <cstdint>
#include <vector>

namespace partwise::images {

// 8-bit RGB, rows from the top, three interleaved bytes per pixel.
struct Image {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;  // height * width * 3

  static Image blank(int64_t width, int64_t height, uint8_t value = 0) {
    return {width, height,
            std::vector<uint8_t>(static_cast<std::size_t>(width * height * 3), value)};
  }
  uint8_t* at(int64_t x, int64_t y) {
    return &pixels[static_cast<std::size_t>((y * width + x) * 3)];
  }
  [[nodiscard]] const uint8_t* at(int64_t x, int64_t y) const {
    return &pixels[static_cast<std::size_t>((y * width + x) * 3)];
  }
};

// Whole pixels of an image: columns [x, x + width), rows [y, y + height).
struct Window {
  int64_t x = 0;
  int64_t y = 0;
  int64_t width = 0;
  int64_t height = 0;
};

// A picture, or a piece of it, at 1/reduction of its size: pixel (x, y) of `image` stands for those
// of the picture from (reduction * (left + x), reduction * (top + y)) on.
struct ReducedImage {
  Image image;
  int64_t reduction = 1;
  int64_t width = 0;  // of the picture
  int64_t height = 0;
  int64_t left = 0;  // where the piece begins, in its own pixels
  int64_t top = 0;
};

}  // namespace partwise::images
