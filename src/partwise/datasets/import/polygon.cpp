#include "partwise/datasets/import/polygon.h"

#include <algorithm>
#include <cmath>

namespace partwise::datasets {
namespace {

// Where the polygon's edges cross the line through a row's pixel centres, sorted.
std::vector<double> crossings(const std::vector<Point>& corners, double y) {
  std::vector<double> at;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto& a = corners[i];
    const auto& b = corners[(i + 1) % corners.size()];
    if ((a.y <= y) == (b.y <= y)) continue;
    at.push_back(a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x));
  }
  std::sort(at.begin(), at.end());
  return at;
}

}  // namespace

void fill_polygon(const std::vector<Point>& corners,
                  int64_t width,
                  int64_t height,
                  std::vector<uint8_t>& pixels) {
  const auto first_centre = [&](double edge) {
    const double bounded = std::clamp(std::ceil(edge - 0.5), 0.0, static_cast<double>(width));
    return static_cast<int64_t>(bounded);
  };
  for (int64_t y = 0; y < height; ++y) {
    const auto edges = crossings(corners, static_cast<double>(y) + 0.5);
    for (std::size_t i = 0; i + 1 < edges.size(); i += 2) {
      for (int64_t x = first_centre(edges[i]); x < first_centre(edges[i + 1]); ++x) {
        pixels[static_cast<std::size_t>(y * width + x)] = 1;
      }
    }
  }
}

}  // namespace partwise::datasets
