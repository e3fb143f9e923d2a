#pragma once

#include "partwise/images/image.h"

namespace partwise::images {

// The window resized to width x height, aspect ignored, by a bilinear (triangle) filter whose
// support grows with the shrink factor: what Pillow calls BILINEAR, within one grey level.
Image resize_antialiased(const Image& image, const Window& window, int64_t width, int64_t height);

// The same where a piece of the picture, perhaps decoded at a fraction of its size (codec.h),
// stands in for it. The window still counts the picture's pixels, and every pixel gets the weight
// of those it stands for, so that the geometry is exact whatever the reduction.
Image resize_antialiased(const ReducedImage& seen,
                         const Window& window,
                         int64_t width,
                         int64_t height);

// The largest reduction (1, 2, 4 or 8) that leaves three pixels for one along both sides: grey
// levels then differ by 0.3 to 0.5 in the mean, single ones by up to 14 (bench/RESULTS.md).
int64_t reduction_for(const Window& window, int64_t width, int64_t height);

}  // namespace partwise::images
