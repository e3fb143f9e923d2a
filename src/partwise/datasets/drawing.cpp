#include "partwise/datasets/drawing.h"

#include "partwise/base/error.h"
#include "partwise/images/resize.h"

#include <algorithm>
#include <cmath>

namespace partwise::datasets {
namespace {

using Rgb = std::array<uint8_t, 3>;

constexpr std::array<MarkColour, 20> kColours{
    {{"red", {235, 40, 40}},      {"blue", {50, 110, 255}},      {"green", {30, 190, 60}},
     {"yellow", {250, 220, 30}},  {"magenta", {235, 60, 220}},   {"cyan", {40, 220, 230}},
     {"orange", {255, 140, 20}},  {"violet", {150, 90, 240}},    {"brown", {140, 80, 20}},
     {"pink", {255, 170, 190}},   {"olive", {130, 130, 20}},     {"teal", {0, 125, 125}},
     {"navy", {20, 20, 130}},     {"lime", {180, 255, 60}},      {"maroon", {120, 10, 40}},
     {"grey", {130, 130, 130}},   {"black", {0, 0, 0}},          {"beige", {235, 210, 160}},
     {"dark green", {0, 85, 20}}, {"pale blue", {165, 200, 255}}}};
constexpr Rgb kBoxColour{255, 255, 255};

void put(images::Image& image, int64_t x, int64_t y, const Rgb& colour) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  std::copy(colour.begin(), colour.end(), image.at(x, y));
}

void outline(images::Image& image, const Box& box, const Rgb& colour) {
  const auto left = static_cast<int64_t>(std::floor(box.x));
  const auto top = static_cast<int64_t>(std::floor(box.y));
  const auto right = static_cast<int64_t>(std::ceil(box.x + box.width)) - 1;
  const auto bottom = static_cast<int64_t>(std::ceil(box.y + box.height)) - 1;
  for (int64_t x = left; x <= right; ++x) {
    put(image, x, top, colour);
    put(image, x, bottom, colour);
  }
  for (int64_t y = top; y <= bottom; ++y) {
    put(image, left, y, colour);
    put(image, right, y, colour);
  }
}

void tint(images::Image& image, const RunLengthMask& mask, const Rgb& colour) {
  const auto pixels = decode_mask(mask);
  for (int64_t y = 0; y < image.height; ++y) {
    const int64_t v = std::min(y * mask.height / image.height, mask.height - 1);
    for (int64_t x = 0; x < image.width; ++x) {
      const int64_t u = std::min(x * mask.width / image.width, mask.width - 1);
      if (pixels[static_cast<std::size_t>(v * mask.width + u)] == 0) continue;
      auto* pixel = image.at(x, y);
      for (std::size_t c = 0; c < 3; ++c) {
        pixel[c] = static_cast<uint8_t>((pixel[c] + colour[c]) / 2);
      }
    }
  }
}

void disc(images::Image& image, Point centre, const Rgb& colour) {
  constexpr int64_t kRim = 4;
  constexpr double kRadius = 3.5;
  const auto column = static_cast<int64_t>(std::floor(centre.x));
  const auto row = static_cast<int64_t>(std::floor(centre.y));
  for (int64_t dy = -kRim; dy <= kRim; ++dy) {
    for (int64_t dx = -kRim; dx <= kRim; ++dx) {
      const double distance = std::hypot(static_cast<double>(dx), static_cast<double>(dy));
      if (distance > kRadius + 1.0) continue;
      put(image, column + dx, row + dy, distance <= kRadius ? colour : Rgb{});
    }
  }
}

}  // namespace

const MarkColour& mark_colour(const Category& category, const std::string& name) {
  auto names = category.parts;
  for (const auto& landmark : category.landmarks) {
    if (std::find(names.begin(), names.end(), landmark) == names.end()) names.push_back(landmark);
  }
  const auto found = std::find(names.begin(), names.end(), name);
  return kColours[static_cast<std::size_t>(found - names.begin()) % kColours.size()];
}

images::Image draw_truth(const images::Image& photo,
                         const Annotation& object,
                         const Category& category,
                         int64_t side) {
  expects(side > 0, "a picture needs a side, got {}", side);
  const auto longer = static_cast<double>(std::max(photo.width, photo.height));
  const auto shown = [&](int64_t extent) {
    const double share = static_cast<double>(extent) / longer;
    return std::max<int64_t>(std::llround(share * static_cast<double>(side)), 1);
  };
  auto picture = images::resize_antialiased(photo, {0, 0, photo.width, photo.height},
                                            shown(photo.width), shown(photo.height));
  const Point scale{static_cast<double>(picture.width) / static_cast<double>(photo.width),
                    static_cast<double>(picture.height) / static_cast<double>(photo.height)};
  const auto scaled = [&](const Box& box) {
    return Box{box.x * scale.x, box.y * scale.y, box.width * scale.x, box.height * scale.y};
  };
  for (const auto& [name, region] : object.parts) {
    if (region.segmentation) {
      tint(picture, *region.segmentation, mark_colour(category, name).rgb);
    }
  }
  for (const auto& [name, region] : object.parts) {
    if (region.bbox) outline(picture, scaled(*region.bbox), mark_colour(category, name).rgb);
  }
  outline(picture, scaled(object.bbox), kBoxColour);
  for (const auto& [name, points] : object.landmarks) {
    for (const auto& point : points) {
      disc(picture, {point.x * scale.x, point.y * scale.y}, mark_colour(category, name).rgb);
    }
  }
  return picture;
}

}  // namespace partwise::datasets
