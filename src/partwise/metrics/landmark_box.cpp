#include "partwise/metrics/landmark_box.h"

#include <algorithm>
#include <cmath>

namespace partwise::metrics {
namespace {

// Pixel i covers [i - 1/2, i + 1/2].
double inside(double x, double half, double side) {
  const double low = half - 0.5;
  const double high = side - 0.5 - half;
  return low < high ? std::clamp(x, low, high) : (side - 1.0) / 2.0;
}

}  // namespace

bool box_holds(Point centre, double half, std::span<const Point> points) {
  return std::any_of(points.begin(), points.end(), [&](Point point) {
    return std::abs(point.x - centre.x) <= half && std::abs(point.y - centre.y) <= half;
  });
}

Point peak_centre(const MapSummaries& maps, const UnitGrid& grid, int64_t filter, int64_t row) {
  const int64_t cell = maps.cells_of(filter)[row];
  return grid.centre(cell / maps.side, cell % maps.side);
}

Point picture_centre(int64_t side) {
  const double middle = static_cast<double>(side - 1) / 2.0;
  return {middle, middle};
}

Point pushed_inside(Point centre, double half, int64_t side) {
  return {inside(centre.x, half, static_cast<double>(side)),
          inside(centre.y, half, static_cast<double>(side))};
}

}  // namespace partwise::metrics
