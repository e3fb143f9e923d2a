#include "partwise/datasets/synthetic/annotate.h"

#include <algorithm>
#include <cmath>

namespace partwise::datasets::synthetic {
namespace {

// Shares of the tight box's size. In boxes with the least margin only, a "detector" that always
// answers with the box's centre has a location instability of 0.037 here, close to the 0.033 of
// knowing where the head is; with the shared margin it is 0.057 against 0.035 (means over the
// species, 300 scenes each, all else equal).
constexpr double kLeastMargin = 0.03;
constexpr double kSharedMargin = 0.45;

// Whole pixels [left, right) x [top, bottom).
struct Edges {
  int64_t left = 0;
  int64_t top = 0;
  int64_t right = 0;
  int64_t bottom = 0;
};

// The tightest edges around the marked pixels.
Edges edges_of(const std::vector<uint8_t>& mask, int64_t side) {
  Edges edges{side, side, 0, 0};
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      if (mask[static_cast<std::size_t>(y * side + x)] == 0) continue;
      edges.left = std::min(edges.left, x);
      edges.right = std::max(edges.right, x + 1);
      edges.top = std::min(edges.top, y);
      edges.bottom = std::max(edges.bottom, y + 1);
    }
  }
  return edges;
}

void widen(int64_t& low, int64_t& high, int64_t limit, Random& random) {
  const auto size = static_cast<double>(high - low);
  const double share = random.uniform();
  const auto pixels = [&](double part) {
    return static_cast<int64_t>(std::ceil(size * (kLeastMargin + kSharedMargin * part)));
  };
  low = std::max<int64_t>(0, low - pixels(share));
  high = std::min(limit, high + pixels(1.0 - share));
}

Box box_from_edges(const Edges& edges) {
  return {static_cast<double>(edges.left), static_cast<double>(edges.top),
          static_cast<double>(edges.right - edges.left),
          static_cast<double>(edges.bottom - edges.top)};
}

std::vector<uint8_t> mask_of_part(const Canvas& canvas,
                                  const Animal& animal,
                                  const std::string& part) {
  std::vector<uint8_t> mask(canvas.owners.size(), 0);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const int16_t owner = canvas.owners[i];
    if (owner == kNothing) continue;
    mask[i] = part.empty() || animal.layers[static_cast<std::size_t>(owner)].part == part ? 1 : 0;
  }
  return mask;
}

void annotate_points(const Canvas& canvas,
                     const Animal& animal,
                     const View& view,
                     Annotation& annotation) {
  for (const auto& point : animal.points) {
    const Point at = view.image_from_body(point.at);
    const auto x = static_cast<int64_t>(std::floor(at.x));
    const auto y = static_cast<int64_t>(std::floor(at.y));
    if (x < 0 || y < 0 || x >= canvas.side || y >= canvas.side) continue;
    const int16_t owner = canvas.owners[canvas.index(x, y)];
    if (owner == kNothing || (point.layer != kAnyLayer && owner != point.layer)) continue;
    annotation.landmarks[point.name].push_back(at);
  }
}

}  // namespace

Annotation annotate(const Canvas& canvas,
                    const Animal& animal,
                    const View& view,
                    const Species& species,
                    Random& random) {
  const int64_t side = canvas.side;
  const int64_t least_area = std::max<int64_t>(4, side * side / 2000);
  Annotation annotation;
  const auto whole = mask_of_part(canvas, animal, "");
  auto edges = edges_of(whole, side);
  widen(edges.left, edges.right, side, random);
  widen(edges.top, edges.bottom, side, random);
  annotation.bbox = box_from_edges(edges);
  annotation.segmentation = encode_mask(whole, side, side);
  for (const auto& part : species.parts) {
    const auto mask = mask_of_part(canvas, animal, part);
    auto runs = encode_mask(mask, side, side);
    if (mask_area(runs) < least_area) continue;
    annotation.parts[part] = {box_from_edges(edges_of(mask, side)), std::move(runs)};
  }
  annotate_points(canvas, animal, view, annotation);
  return annotation;
}

}  // namespace partwise::datasets::synthetic
