#include "partwise/datasets/regions.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cmath>

namespace partwise::datasets {
namespace {

// The first of `size` pixels whose centre lies at or after the edge.
int64_t first_pixel(double edge, int64_t size) {
  return static_cast<int64_t>(std::clamp(std::ceil(edge - 0.5), 0.0, static_cast<double>(size)));
}

// Sets the pixels of row y whose centres lie in [left, right).
void fill_row(std::vector<uint8_t>& pixels, int64_t width, int64_t y, double left, double right) {
  for (int64_t x = first_pixel(left, width); x < first_pixel(right, width); ++x) {
    pixels[static_cast<std::size_t>(y * width + x)] = 1;
  }
}

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

Box box_around(const Box& a, const Box& b) {
  const double left = std::min(a.x, b.x);
  const double top = std::min(a.y, b.y);
  return {left, top, std::max(a.x + a.width, b.x + b.width) - left,
          std::max(a.y + a.height, b.y + b.height) - top};
}

PartRegion region_of_boxes(const std::vector<Box>& boxes, int64_t width, int64_t height) {
  expects(!boxes.empty(), "a region needs a box");
  PartRegion region;
  region.bbox = boxes.front();
  for (const auto& box : boxes) region.bbox = box_around(*region.bbox, box);
  if (boxes.size() == 1) return region;
  std::vector<uint8_t> pixels(static_cast<std::size_t>(width * height), 0);
  for (const auto& box : boxes) {
    const int64_t end = first_pixel(box.y + box.height, height);
    for (int64_t y = first_pixel(box.y, height); y < end; ++y) {
      fill_row(pixels, width, y, box.x, box.x + box.width);
    }
  }
  region.segmentation = encode_mask(pixels, width, height);
  return region;
}

std::optional<Box> box_around(const std::vector<uint8_t>& pixels, int64_t width, int64_t height) {
  int64_t left = width;
  int64_t right = 0;
  int64_t top = height;
  int64_t bottom = 0;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      if (pixels[static_cast<std::size_t>(y * width + x)] == 0) continue;
      left = std::min(left, x);
      right = std::max(right, x + 1);
      top = std::min(top, y);
      bottom = std::max(bottom, y + 1);
    }
  }
  if (left >= right) return std::nullopt;
  return Box{static_cast<double>(left), static_cast<double>(top), static_cast<double>(right - left),
             static_cast<double>(bottom - top)};
}

void fill_polygon(const std::vector<Point>& corners,
                  int64_t width,
                  int64_t height,
                  std::vector<uint8_t>& pixels) {
  for (int64_t y = 0; y < height; ++y) {
    const auto edges = crossings(corners, static_cast<double>(y) + 0.5);
    for (std::size_t i = 0; i + 1 < edges.size(); i += 2) {
      fill_row(pixels, width, y, edges[i], edges[i + 1]);
    }
  }
}

}  // namespace partwise::datasets
