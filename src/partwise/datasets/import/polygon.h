#pragma once

#include "partwise/base/geometry.h"

#include <cstdint>
#include <vector>

namespace partwise::datasets {

// Sets the pixels whose centres lie inside a polygon (even-odd rule) in a row-major mask.
void fill_polygon(const std::vector<Point>& corners,
                  int64_t width,
                  int64_t height,
                  std::vector<uint8_t>& pixels);

}  // namespace partwise::datasets
