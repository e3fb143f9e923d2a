#include "partwise/views/heat_map.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cmath>

namespace partwise::views {

using images::Image;

namespace {

constexpr std::array<Colour, 9> kHeat = {{{10, 8, 30},
                                          {46, 18, 88},
                                          {98, 26, 114},
                                          {152, 40, 102},
                                          {202, 64, 74},
                                          {234, 104, 44},
                                          {248, 154, 36},
                                          {252, 204, 92},
                                          {255, 246, 200}}};

// The photo under the heat: towards grey and darker, so that colour means activation only.
constexpr double kSaturation = 0.6;
constexpr double kBrightness = 0.72;
constexpr double kStrongestCover = 0.88;

uint8_t byte(double value) {
  return static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

struct Neighbours {
  int64_t first = 0;
  int64_t second = 0;
  double share = 0.0;  // of the second
};

// For every pixel of one axis of the picture, the two cells it lies between.
std::vector<Neighbours> neighbours(int64_t pixels, const HeatGrid& grid) {
  std::vector<Neighbours> all;
  const double input_from_pixel = grid.input_side / static_cast<double>(pixels);
  for (int64_t p = 0; p < pixels; ++p) {
    const double input = (static_cast<double>(p) + 0.5) * input_from_pixel - 0.5;
    const double cell =
        std::clamp((input - grid.offset) / grid.stride, 0.0, static_cast<double>(grid.side - 1));
    const auto first = static_cast<int64_t>(cell);
    all.push_back({first, std::min(first + 1, grid.side - 1), cell - static_cast<double>(first)});
  }
  return all;
}

double cell_value(std::span<const float> map, int64_t side, int64_t i, int64_t j) {
  const double value = map[static_cast<std::size_t>(i * side + j)];
  return std::isfinite(value) ? value : 0.0;
}

double between(std::span<const float> map, int64_t side, const Neighbours& y, const Neighbours& x) {
  const auto along_x = [&](int64_t i) {
    return (1.0 - x.share) * cell_value(map, side, i, x.first) +
           x.share * cell_value(map, side, i, x.second);
  };
  return (1.0 - y.share) * along_x(y.first) + y.share * along_x(y.second);
}

void blend(uint8_t* pixel, double strength) {
  const double grey = 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
  const double cover = kStrongestCover * strength;
  const Colour heat = heat_colour(0.25 + 0.75 * strength);
  for (std::size_t c = 0; c < 3; ++c) {
    const double photo = kBrightness * (grey + kSaturation * (pixel[c] - grey));
    pixel[c] = byte((1.0 - cover) * photo + cover * heat[c]);
  }
}

bool on_mark(PeakMark mark, double dx, double dy, double radius, double thickness) {
  if (mark == PeakMark::ring) return std::abs(std::hypot(dx, dy) - radius) <= thickness;
  const double shorter = std::min(std::abs(dx), std::abs(dy));
  return shorter <= thickness && std::max(std::abs(dx), std::abs(dy)) <= radius;
}

void draw_mark(Image& image, PeakMark mark, double x, double y) {
  const double radius = std::max(4.0, 0.09 * static_cast<double>(image.width));
  const double thickness = std::max(0.7, radius / 12.0);
  for (int64_t py = 0; py < image.height; ++py) {
    for (int64_t px = 0; px < image.width; ++px) {
      const double dx = static_cast<double>(px) - x;
      const double dy = static_cast<double>(py) - y;
      // White on a black edge shows on any background.
      if (on_mark(mark, dx, dy, radius + 1.0, thickness + 1.0)) std::fill_n(image.at(px, py), 3, 0);
      if (on_mark(mark, dx, dy, radius, thickness)) std::fill_n(image.at(px, py), 3, 255);
    }
  }
}

void mark_peak(Image& image, std::span<const float> map, const HeatGrid& grid, PeakMark mark) {
  const auto peak = std::max_element(map.begin(), map.end());
  if (mark == PeakMark::none || !(*peak > 0.0F)) return;
  const auto index = static_cast<int64_t>(peak - map.begin());
  const auto pixel = [&](int64_t cell, int64_t pixels) {
    const double input = grid.offset + grid.stride * static_cast<double>(cell);
    return (input + 0.5) * static_cast<double>(pixels) / grid.input_side - 0.5;
  };
  draw_mark(image, mark, pixel(index % grid.side, image.width),
            pixel(index / grid.side, image.height));
}

}  // namespace

Colour heat_colour(double value) {
  const double place = std::isnan(value) ? 0.0 : std::clamp(value, 0.0, 1.0) * (kHeat.size() - 1);
  const auto first = std::min(static_cast<std::size_t>(place), kHeat.size() - 2);
  const double share = place - static_cast<double>(first);
  Colour colour{};
  for (std::size_t c = 0; c < 3; ++c) {
    colour[c] = byte((1.0 - share) * kHeat[first][c] + share * kHeat[first + 1][c]);
  }
  return colour;
}

Image overlay_map(const Image& crop,
                  std::span<const float> map,
                  const HeatGrid& grid,
                  double max_value,
                  PeakMark mark) {
  expects(grid.side > 0 && static_cast<int64_t>(map.size()) == grid.side * grid.side,
          "a map of {} values is not {} x {}", map.size(), grid.side, grid.side);
  expects(grid.stride > 0.0 && grid.input_side > 0.0,
          "stride {} and input side {} must be positive", grid.stride, grid.input_side);
  Image image = crop;
  const auto columns = neighbours(image.width, grid);
  const auto rows = neighbours(image.height, grid);
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      const double value = between(map, grid.side, rows[static_cast<std::size_t>(y)],
                                   columns[static_cast<std::size_t>(x)]);
      blend(image.at(x, y), max_value > 0.0 ? std::clamp(value / max_value, 0.0, 1.0) : 0.0);
    }
  }
  mark_peak(image, map, grid, mark);
  return image;
}

Image contact_sheet(std::span<const Image> pictures,
                    int64_t columns,
                    int64_t gap,
                    uint8_t background) {
  expects(columns > 0 && gap >= 0, "a contact sheet of {} columns with gap {}", columns, gap);
  if (pictures.empty()) return {};
  int64_t width = 0;
  int64_t height = 0;
  for (const Image& picture : pictures) {
    width = std::max(width, picture.width);
    height = std::max(height, picture.height);
  }
  const auto count = static_cast<int64_t>(pictures.size());
  columns = std::min(columns, count);
  const int64_t rows = (count + columns - 1) / columns;
  Image sheet =
      Image::blank(columns * (width + gap) - gap, rows * (height + gap) - gap, background);
  for (int64_t k = 0; k < count; ++k) {
    const Image& picture = pictures[static_cast<std::size_t>(k)];
    const int64_t left = k % columns * (width + gap) + (width - picture.width) / 2;
    const int64_t top = k / columns * (height + gap) + (height - picture.height) / 2;
    for (int64_t y = 0; picture.width > 0 && y < picture.height; ++y) {
      std::copy_n(picture.at(0, y), picture.width * 3, sheet.at(left, top + y));
    }
  }
  return sheet;
}

}  // namespace partwise::views
