#pragma once

#include "partwise/datasets/part_dataset.h"

namespace partwise::datasets {

// The region of a part known by boxes only: one box, or for several instances the box around them
// and the pixels (centres) inside any of them as a mask.
PartRegion region_of_boxes(const std::vector<Box>& boxes, int64_t width, int64_t height);

// The smallest box around a mask's pixels; empty for an empty mask. Row-major, 0 or 1.
std::optional<Box> box_around(const std::vector<uint8_t>& pixels, int64_t width, int64_t height);

Box box_around(const Box& a, const Box& b);

// Sets the pixels whose centres lie inside a polygon (even-odd rule) in a row-major mask.
void fill_polygon(const std::vector<Point>& corners,
                  int64_t width,
                  int64_t height,
                  std::vector<uint8_t>& pixels);

}  // namespace partwise::datasets
