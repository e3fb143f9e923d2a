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
//
// An image decoded at 1/reduction of its size (codec.h) stands in for the whole one: the window
// still counts whole pixels, and every pixel gets the weight of those it stands for, so that the
// geometry is exact whatever the reduction.
Image resize_antialiased(
    const Image& image, const Window& window, int64_t width, int64_t height, int64_t reduction = 1);

// The largest reduction (1, 2, 4 or 8) that leaves three pixels for one along both sides: grey
// levels then differ by 0.3 to 0.5 in the mean, single ones by up to 14 (bench/RESULTS.md).
int64_t reduction_for(const Window& window, int64_t width, int64_t height);

}  // namespace partwise::images
