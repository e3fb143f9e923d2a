#pragma once

#include "partwise/base/geometry.h"
#include "partwise/views/heat_map.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::views {

// Closed polygons around {field >= level} by marching squares with linear interpolation; the field
// is height x width, row by row, and its cell (x, y) is centred on the point (x + 0.5, y + 0.5).
// Along the border of the field outlines close on its outermost edge. A hole has an outline of its
// own. A mask is a field of 0 and 1 with level 0.5. NaN counts as outside.
std::vector<std::vector<Point>> contours(std::span<const float> field,
                                         int64_t width,
                                         int64_t height,
                                         double level);

inline constexpr int64_t kPartColours = 12;

// Told apart with any kind of colour blindness by lightness and hue together, and visible on
// photographs; index modulo kPartColours.
Colour part_colour(int64_t index);

}  // namespace partwise::views
