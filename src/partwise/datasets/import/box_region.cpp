#include "partwise/datasets/import/box_region.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cmath>

namespace partwise::datasets {
namespace {

void fill(std::vector<uint8_t>& pixels, const Box& box, int64_t width, int64_t height) {
  const auto first = [](double edge, int64_t size) {  // pixel centre at or after the edge
    return static_cast<int64_t>(std::clamp(std::ceil(edge - 0.5), 0.0, static_cast<double>(size)));
  };
  for (int64_t y = first(box.y, height); y < first(box.y + box.height, height); ++y) {
    for (int64_t x = first(box.x, width); x < first(box.x + box.width, width); ++x) {
      pixels[static_cast<std::size_t>(y * width + x)] = 1;
    }
  }
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
  for (const auto& box : boxes) fill(pixels, box, width, height);
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

}  // namespace partwise::datasets
