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

// The same mean over an axis of which every `reduction` pixels have become one; `start` is where
// the window begins on it.
std::vector<Tap> placed(std::vector<Tap> taps, int64_t start, int64_t reduction) {
  for (auto& tap : taps) {
    const int64_t from = start + tap.first;
    tap.first = from / reduction;
    if (reduction == 1) continue;
    const int64_t last = (from + std::ssize(tap.weights) - 1) / reduction;
    std::vector<float> merged(static_cast<std::size_t>(last - tap.first + 1), 0.0F);
    for (int64_t i = 0; i < std::ssize(tap.weights); ++i) {
      merged[static_cast<std::size_t>((from + i) / reduction - tap.first)] +=
          tap.weights[static_cast<std::size_t>(i)];
    }
    tap.weights = std::move(merged);
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

Image resize_antialiased(
    const Image& image, const Window& window, int64_t width, int64_t height, int64_t reduction) {
  expects(window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 &&
              window.width <= image.width * reduction - window.x &&
              window.height <= image.height * reduction - window.y,
          "window {} x {} at ({}, {}) is not inside an image of {} x {} at 1/{}", window.width,
          window.height, window.x, window.y, image.width, image.height, reduction);
  expects(width > 0 && height > 0, "cannot resize to {} x {}", width, height);
  const auto row_values = static_cast<std::size_t>(3 * width);
  const auto columns = placed(triangle_taps(window.width, width), window.x, reduction);
  const auto rows = placed(triangle_taps(window.height, height), window.y, reduction);
  const int64_t top = window.y / reduction;
  const int64_t bottom = (window.y + window.height - 1) / reduction + 1;
  std::vector<float> narrowed(static_cast<std::size_t>(bottom - top) * row_values);
  for (int64_t y = top; y < bottom; ++y) {
    shrink_row(image.at(0, y), columns, &narrowed[static_cast<std::size_t>(y - top) * row_values]);
  }
  auto resized = Image::blank(width, height);
  std::vector<float> sum(row_values);
  for (int64_t y = 0; y < height; ++y) {
    const auto& tap = rows[static_cast<std::size_t>(y)];
    std::fill(sum.begin(), sum.end(), 0.0F);
    const float* row = &narrowed[static_cast<std::size_t>(tap.first - top) * row_values];
    for (const float weight : tap.weights) {
      for (std::size_t i = 0; i < row_values; ++i) sum[i] += weight * row[i];
      row += row_values;
    }
    std::transform(sum.begin(), sum.end(), resized.at(0, y), rounded);
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
