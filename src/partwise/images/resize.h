#pragma once

#include "partwise/images/image.h"

namespace partwise::images {

// Whole pixels of an image: columns [x, x + width), rows [y, y + height).
struct Window {
  int64_t x = 0;
  int64_t y = 0;
  int64_t width = 0;
  int64_t height = 0;
};

// The window resized to width x height, aspect ignored, by a bilinear (triangle) filter whose
// support grows with the shrink factor: what Pillow calls BILINEAR, within one grey level.
Image resize_antialiased(const Image& image, const Window& window, int64_t width, int64_t height);

}  // namespace partwise::images
