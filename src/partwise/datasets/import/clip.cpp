#include "partwise/datasets/import/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace partwise::datasets {
namespace {

constexpr double kLeastExtent = 1e-6;

bool finite(const Box& box) {
  return std::isfinite(box.x) && std::isfinite(box.y) && std::isfinite(box.width) &&
         std::isfinite(box.height);
}

// A landmark on the very edge, or a rounding outside, still counts.
bool near_image(Point point, int64_t width, int64_t height) {
  const auto inside = [](double at, int64_t size) {
    return at >= -1.0 && at <= static_cast<double>(size) + 1.0;
  };
  return inside(point.x, width) && inside(point.y, height);
}

void fit_parts(Annotation& object, int64_t width, int64_t height) {
  for (auto part = object.parts.begin(); part != object.parts.end();) {
    auto& region = part->second;
    if (region.bbox) region.bbox = clipped(*region.bbox, width, height);
    if (region.segmentation && mask_area(*region.segmentation) == 0) region.segmentation.reset();
    part = region.bbox || region.segmentation ? std::next(part) : object.parts.erase(part);
  }
}

void fit_landmarks(Annotation& object, int64_t width, int64_t height) {
  for (auto landmark = object.landmarks.begin(); landmark != object.landmarks.end();) {
    auto& points = landmark->second;
    points.erase(std::remove_if(points.begin(), points.end(),
                                [&](Point point) { return !near_image(point, width, height); }),
                 points.end());
    landmark = points.empty() ? object.landmarks.erase(landmark) : std::next(landmark);
  }
}

}  // namespace

std::optional<Box> clipped(const Box& box, int64_t width, int64_t height) {
  if (!finite(box)) return std::nullopt;
  const double left = std::max(box.x, 0.0);
  const double top = std::max(box.y, 0.0);
  const double right = std::min(box.x + box.width, static_cast<double>(width));
  const double bottom = std::min(box.y + box.height, static_cast<double>(height));
  if (right - left < kLeastExtent || bottom - top < kLeastExtent) return std::nullopt;
  return Box{left, top, right - left, bottom - top};
}

std::string fit_to_image(Annotation& object, int64_t width, int64_t height) {
  const auto box = clipped(object.bbox, width, height);
  if (!box) {
    return fmt::format("its box [{}, {}, {}, {}] holds nothing of the {} x {} image", object.bbox.x,
                       object.bbox.y, object.bbox.width, object.bbox.height, width, height);
  }
  object.bbox = *box;
  fit_parts(object, width, height);
  fit_landmarks(object, width, height);
  return "";
}

}  // namespace partwise::datasets
