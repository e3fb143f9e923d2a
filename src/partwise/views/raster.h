#pragma once

#include "partwise/base/geometry.h"
#include "partwise/images/image.h"
#include "partwise/views/heat_map.h"

#include <span>
#include <utility>
#include <vector>

namespace partwise::views {

using Lines = std::vector<std::vector<Point>>;

// A white raster that lines and areas are painted on, anti-aliased; units are its pixels. What lies
// outside is cut off.
class Raster {
 public:
  Raster(int64_t width, int64_t height);

  // Lines of a pen with a round tip; where they cross, paint is laid once. A line of one point is a
  // dot.
  void stroke(const Lines& lines, double pen, Colour colour, double opacity = 1.0);
  // The inside of closed outlines: what an odd number of them encloses.
  void fill(const Lines& outlines, Colour colour, double opacity = 1.0);
  void paste(const images::Image& image, int64_t left, int64_t top);

  [[nodiscard]] const images::Image& image() const { return image_; }

 private:
  void stroke_segment(Point from, Point to, double pen);
  void paint_row(int64_t y, int64_t first, int64_t last, Colour colour, double opacity);

  images::Image image_;
  std::vector<float> cover_;  // of the mark being drawn: 0 to 1 per pixel, 0 between marks
  std::vector<std::pair<int64_t, int64_t>> touched_;  // columns [first, last) of every row
};

// The line cut into dashes: lengths of line and gap in turn.
Lines dashes(std::span<const Point> line, bool closed, std::span<const double> pattern);

}  // namespace partwise::views
