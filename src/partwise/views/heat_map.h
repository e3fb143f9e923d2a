#pragma once

#include "partwise/images/image.h"

#include <array>
#include <cstdint>
#include <span>

namespace partwise::views {

using Colour = std::array<uint8_t, 3>;

// Dark indigo (0) through magenta and orange to pale yellow (1), lightness rising all the way, so
// that order survives grey printing and colour blindness. Values outside [0, 1] are clamped, NaN
// is 0.
Colour heat_colour(double value);

// Where the cells of an n x n map lie: cell (i, j) is centred on the 0-based pixel
// (offset + stride * j, offset + stride * i) of a square network input.
struct HeatGrid {
  int64_t side = 0;  // n
  double offset = 0.0;
  double stride = 1.0;
  double input_side = 0.0;
};

enum class PeakMark { none, ring, cross };

// The map over the photo that fed the network, whatever size it is shown at: bilinear between unit
// centres, constant outside the outermost ones. The photo is dimmed; what reaches `max_value`
// glows, 0 leaves the photo recognisable. With max_value <= 0 nothing glows. The mark sits on the
// highest cell (the first one in row order); a map without a positive cell gets none.
images::Image overlay_map(const images::Image& crop,
                          std::span<const float> map,
                          const HeatGrid& grid,
                          double max_value,
                          PeakMark mark = PeakMark::ring);

// Pictures in rows of `columns`, each centred in a cell as large as the largest, `gap` pixels
// between cells and none around them.
images::Image contact_sheet(std::span<const images::Image> pictures,
                            int64_t columns,
                            int64_t gap,
                            uint8_t background = 255);

}  // namespace partwise::views
