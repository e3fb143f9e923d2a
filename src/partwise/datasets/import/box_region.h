#pragma once

#include "partwise/datasets/part_dataset.h"

#include <vector>

namespace partwise::datasets {

// The region of a part known by boxes only: one box, or for several instances the box around them
// and the pixels (centres) inside any of them as a mask.
PartRegion region_of_boxes(const std::vector<Box>& boxes, int64_t width, int64_t height);

// The smallest box around a mask's pixels; empty for an empty mask. Row-major, 0 or 1.
std::optional<Box> box_around(const std::vector<uint8_t>& pixels, int64_t width, int64_t height);

Box box_around(const Box& a, const Box& b);

}  // namespace partwise::datasets
