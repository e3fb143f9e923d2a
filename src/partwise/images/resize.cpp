#include "partwise/images/resize.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cmath>

namespace partwise::images {
namespace {

// The source pixels one output pixel is a weighted mean of.
struct Tap {
  int64_t first = 0;
  std::vector<float> weights;
};

std::vector<Tap> triangle_taps(int64_t from, int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double support = std::max(scale, 1.0);
  std::vector<Tap> taps(static_cast<std::size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(0, std::llround(std::floor(centre - support + 0.5)));
    const auto last = std::min<int64_t>(from, std::llround(std::floor(centre + support + 0.5)));
    std::vector<double> weights;
    double sum = 0.0;
    for (int64_t j = first; j < last; ++j) {
      const double away = std::abs(static_cast<double>(j) + 0.5 - centre) / support;
      weights.push_back(std::max(0.0, 1.0 - away));
      sum += weights.back();
    }
    auto& tap = taps[static_cast<std::size_t>(i)];
    tap.first = first;
    for (const double weight : weights) tap.weights.push_back(static_cast<float>(weight / sum));
  }
  return taps;
}

void shrink_row(const uint8_t* row, const std::vector<Tap>& taps, float* out) {
  for (const auto& tap : taps) {
    const uint8_t* pixel = row + 3 * tap.first;
    float sum[3] = {0.0F, 0.0F, 0.0F};
    for (const float weight : tap.weights) {
      for (int c = 0; c < 3; ++c) sum[c] += weight * static_cast<float>(pixel[c]);
      pixel += 3;
    }
    out = std::copy_n(sum, 3, out);
  }
}

uint8_t rounded(float value) {
  return static_cast<uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

}  // namespace

Image resize_antialiased(const Image& image, const Window& window, int64_t width, int64_t height) {
  expects(window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 &&
              window.width <= image.width - window.x && window.height <= image.height - window.y,
          "window {} x {} at ({}, {}) is not inside an image of {} x {}", window.width,
          window.height, window.x, window.y, image.width, image.height);
  expects(width > 0 && height > 0, "cannot resize to {} x {}", width, height);
  const auto row_values = static_cast<std::size_t>(3 * width);
  std::vector<float> narrowed(static_cast<std::size_t>(window.height) * row_values);
  const auto columns = triangle_taps(window.width, width);
  for (int64_t y = 0; y < window.height; ++y) {
    shrink_row(image.at(window.x, window.y + y), columns,
               &narrowed[static_cast<std::size_t>(y) * row_values]);
  }
  auto resized = Image::blank(width, height);
  const auto rows = triangle_taps(window.height, height);
  std::vector<float> sum(row_values);
  for (int64_t y = 0; y < height; ++y) {
    const auto& tap = rows[static_cast<std::size_t>(y)];
    std::fill(sum.begin(), sum.end(), 0.0F);
    const float* row = &narrowed[static_cast<std::size_t>(tap.first) * row_values];
    for (const float weight : tap.weights) {
      for (std::size_t i = 0; i < row_values; ++i) sum[i] += weight * row[i];
      row += row_values;
    }
    std::transform(sum.begin(), sum.end(), resized.at(0, y), rounded);
  }
  return resized;
}

}  // namespace partwise::images
