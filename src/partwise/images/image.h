#pragma once

#include <cstdint>
#include <vector>

namespace partwise::images {

// 8-bit RGB, rows from the top, three interleaved bytes a pixel.
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

}  // namespace partwise::images
