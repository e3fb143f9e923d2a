#include "partwise/images/resize.h"

#include "partwise/base/error.h"
#include "partwise/images/row_kernels.h"

#include <algorithm>
#include <cmath>

namespace partwise::images {
namespace {

// The weights by which `from` pixels become `to`, one list per output pixel, over an axis of which
// every `reduction` pixels have become one; `start` is where the window begins on it.
Taps triangle_taps(int64_t from, int64_t to, int64_t start, int64_t reduction) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double support = std::max(scale, 1.0);
  const auto centre = [&](int64_t i) { return (static_cast<double>(i) + 0.5) * scale; };
  const auto first = [&](int64_t i) {
    return std::max(int64_t{0}, static_cast<int64_t>(std::floor(centre(i) - support + 0.5)));
  };
  const auto end = [&](int64_t i) {
    return std::min(from, static_cast<int64_t>(std::floor(centre(i) + support + 0.5)));
  };
  const auto seen = [&](int64_t pixel) { return (start + pixel) / reduction; };
  Taps taps;
  taps.begin = seen(0);
  taps.end = seen(from - 1) + 1;
  for (int64_t i = 0; i < to; ++i) {
    taps.each = std::max(taps.each, seen(end(i) - 1) - seen(first(i)) + 1);
  }
  taps.weights.assign(static_cast<std::size_t>(to * taps.each), 0.0F);
  std::vector<double> weights;
  for (int64_t i = 0; i < to; ++i) {
    weights.clear();
    double sum = 0.0;
    for (int64_t j = first(i); j < end(i); ++j) {
      const double away = std::abs(static_cast<double>(j) + 0.5 - centre(i)) / support;
      weights.push_back(std::max(0.0, 1.0 - away));
      sum += weights.back();
    }
    taps.first.push_back(std::min(seen(first(i)), taps.end - taps.each));
    float* merged = &taps.weights[static_cast<std::size_t>(i * taps.each)];
    int64_t pixel = first(i);
    for (const double weight : weights) {
      merged[seen(pixel++) - taps.first.back()] += static_cast<float>(weight / sum);
    }
  }
  return taps;
}

}  // namespace

Image resize_antialiased(const ReducedImage& seen,
                         const Window& window,
                         int64_t width,
                         int64_t height) {
  const auto& image = seen.image;
  const Window inner{window.x - seen.left * seen.reduction, window.y - seen.top * seen.reduction,
                     window.width, window.height};
  return resize_with(fastest_row_kernels(), image, inner, width, height, seen.reduction);
}

Image resize_antialiased(const Image& image, const Window& window, int64_t width, int64_t height) {
  return resize_with(fastest_row_kernels(), image, window, width, height, 1);
}

Image resize_with(const RowKernels& kernels,
                  const Image& image,
                  const Window& window,
                  int64_t width,
                  int64_t height,
                  int64_t reduction) {
  expects(window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 &&
              window.width <= image.width * reduction - window.x &&
              window.height <= image.height * reduction - window.y,
          "window {} x {} at ({}, {}) is not inside an image of {} x {} at 1/{}", window.width,
          window.height, window.x, window.y, image.width, image.height, reduction);
  expects(width > 0 && height > 0, "cannot resize to {} x {}", width, height);
  const auto columns = triangle_taps(window.width, width, window.x, reduction);
  const auto rows = triangle_taps(window.height, height, window.y, reduction);
  // Rows are narrowed two at a time, just before they are needed; as many are kept as one output
  // row is made of, and one more.
  const int64_t kept = rows.each + 1;
  const int64_t stride = 3 * width + kRowSlack;
  std::vector<float> narrowed(static_cast<std::size_t>(kept * stride));
  std::vector<float> scratch(static_cast<std::size_t>(8 * (columns.end - columns.begin)));
  const auto place = [&](int64_t y) {
    return &narrowed[static_cast<std::size_t>(y % kept * stride)];
  };
  std::vector<const float*> made_of(static_cast<std::size_t>(rows.each));
  auto resized = Image::blank(width, height);
  int64_t ready = rows.begin;
  for (int64_t y = 0; y < height; ++y) {
    const int64_t first = rows.first[static_cast<std::size_t>(y)];
    for (; ready < first + rows.each; ready += 2) {
      const int64_t next = std::min(ready + 1, rows.end - 1);
      kernels.narrow_two(image.at(0, ready), image.at(0, next), columns, scratch.data(),
                         place(ready), place(ready + 1));
    }
    for (int64_t i = 0; i < rows.each; ++i) made_of[static_cast<std::size_t>(i)] = place(first + i);
    kernels.blend(made_of.data(), &rows.weights[static_cast<std::size_t>(y * rows.each)], rows.each,
                  3 * width, resized.at(0, y));
  }
  return resized;
}

int64_t reduction_for(const Window& window, int64_t width, int64_t height) {
  constexpr int64_t kLeft = 3;
  const int64_t shrink = std::min(window.width / width, window.height / height);
  int64_t reduction = 8;
  while (reduction > 1 && shrink < kLeft * reduction) reduction /= 2;
  return reduction;
}

}  // namespace partwise::images
