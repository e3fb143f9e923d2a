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

// An image at 1/reduction of its size: pixel (x, y) stands for those from (reduction * x,
// reduction * y) on.
struct ReducedImage {
  Image image;
  int64_t reduction = 1;
  int64_t width = 0;  // of the whole
  int64_t height = 0;
};

}  // namespace partwise::images
