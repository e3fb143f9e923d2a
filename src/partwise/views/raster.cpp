#include "partwise/views/raster.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cmath>

namespace partwise::views {

using images::Image;

namespace {

// Both bounds are whole numbers that fit; the value may be anything but NaN.
int64_t whole_within(double value, int64_t low, int64_t high) {
  return static_cast<int64_t>(
      std::clamp(value, static_cast<double>(low), static_cast<double>(high)));
}

double distance_to_segment(Point point, Point from, Point to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double length_squared = dx * dx + dy * dy;
  const double along = (point.x - from.x) * dx + (point.y - from.y) * dy;
  const double t = length_squared > 0.0 ? std::clamp(along / length_squared, 0.0, 1.0) : 0.0;
  return std::hypot(point.x - from.x - t * dx, point.y - from.y - t * dy);
}

// The share of a pixel that a line of width `pen` covers, its middle `distance` away.
double line_cover(double distance, double pen) {
  return std::max(0.0, std::min(distance + 0.5, pen / 2.0) - std::max(distance - 0.5, -pen / 2.0));
}

// Adds what lies right of `x` to a row of differences: the running sum is each pixel's share.
void add_edge(std::vector<double>& differences, double x, double amount) {
  const auto last = static_cast<int64_t>(differences.size()) - 2;
  const double inside = std::clamp(x, 0.0, static_cast<double>(last));
  const int64_t pixel = whole_within(inside, 0, last);
  const double share = inside - static_cast<double>(pixel);
  differences[static_cast<std::size_t>(pixel)] += amount * (1.0 - share);
  differences[static_cast<std::size_t>(pixel) + 1] += amount * share;
}

constexpr int64_t kSubRows = 8;  // per pixel, when areas are filled

}  // namespace

Raster::Raster(int64_t width, int64_t height)
    : image_(Image::blank(width, height, 255)),
      cover_(static_cast<std::size_t>(width * height), 0.0F),
      touched_(static_cast<std::size_t>(height), {width, 0}) {}

void Raster::stroke_segment(Point from, Point to, double pen) {
  if (from.y > to.y) std::swap(from, to);
  const double reach = pen / 2.0 + 0.5;
  const int64_t top = whole_within(std::floor(from.y - reach), 0, image_.height);
  const int64_t bottom = whole_within(std::ceil(to.y + reach), 0, image_.height);
  for (int64_t y = top; y < bottom; ++y) {
    const double middle = static_cast<double>(y) + 0.5;
    // Of a long slanting line, only the piece near this row.
    const double rise = to.y - from.y;
    const double start = rise > 0.0 ? std::clamp((middle - reach - from.y) / rise, 0.0, 1.0) : 0.0;
    const double end = rise > 0.0 ? std::clamp((middle + reach - from.y) / rise, 0.0, 1.0) : 1.0;
    const auto [left, right] =
        std::minmax({from.x + start * (to.x - from.x), from.x + end * (to.x - from.x)});
    const int64_t first = whole_within(std::floor(left - reach), 0, image_.width);
    const int64_t last = whole_within(std::ceil(right + reach), 0, image_.width);
    if (first >= last) continue;
    float* cover = &cover_[static_cast<std::size_t>(y * image_.width)];
    for (int64_t x = first; x < last; ++x) {
      const Point pixel{static_cast<double>(x) + 0.5, middle};
      const double share = line_cover(distance_to_segment(pixel, from, to), pen);
      cover[x] = std::max(cover[x], static_cast<float>(share));
    }
    auto& touched = touched_[static_cast<std::size_t>(y)];
    touched = {std::min(touched.first, first), std::max(touched.second, last)};
  }
}

void Raster::paint_row(int64_t y, int64_t first, int64_t last, Colour colour, double opacity) {
  float* cover = &cover_[static_cast<std::size_t>(y * image_.width)];
  for (int64_t x = first; x < last; ++x) {
    if (cover[x] <= 0.0F) continue;
    const double share = opacity * std::min(static_cast<double>(cover[x]), 1.0);
    cover[x] = 0.0F;
    uint8_t* pixel = image_.at(x, y);
    for (std::size_t c = 0; c < 3; ++c) {
      pixel[c] = static_cast<uint8_t>(pixel[c] + share * (colour[c] - pixel[c]) + 0.5);
    }
  }
}

void Raster::stroke(const Lines& lines, double pen, Colour colour, double opacity) {
  for (const auto& line : lines) {
    if (line.size() == 1) stroke_segment(line[0], line[0], pen);
    for (std::size_t k = 1; k < line.size(); ++k) stroke_segment(line[k - 1], line[k], pen);
  }
  for (int64_t y = 0; y < image_.height; ++y) {
    auto& [first, last] = touched_[static_cast<std::size_t>(y)];
    paint_row(y, first, last, colour, opacity);
    first = image_.width;
    last = 0;
  }
}

void Raster::fill(const Lines& outlines, Colour colour, double opacity) {
  std::vector<std::vector<double>> crossings(static_cast<std::size_t>(image_.height * kSubRows));
  const auto sub_row_from = [&](double y) {
    return whole_within(std::ceil(y * kSubRows - 0.5), 0, image_.height * kSubRows);
  };
  for (const auto& outline : outlines) {
    for (std::size_t k = 0; k < outline.size(); ++k) {
      Point from = outline[k];
      Point to = outline[(k + 1) % outline.size()];
      if (from.y > to.y) std::swap(from, to);
      const double slope = (to.x - from.x) / (to.y - from.y);  // of a level edge: never used
      for (int64_t s = sub_row_from(from.y); s < sub_row_from(to.y); ++s) {
        const double y = (static_cast<double>(s) + 0.5) / kSubRows;
        crossings[static_cast<std::size_t>(s)].push_back(from.x + slope * (y - from.y));
      }
    }
  }
  std::vector<double> differences(static_cast<std::size_t>(image_.width) + 2);
  for (int64_t y = 0; y < image_.height; ++y) {
    std::fill(differences.begin(), differences.end(), 0.0);
    bool empty = true;
    for (int64_t s = y * kSubRows; s < (y + 1) * kSubRows; ++s) {
      auto& row = crossings[static_cast<std::size_t>(s)];
      std::sort(row.begin(), row.end());
      for (std::size_t k = 0; k + 1 < row.size(); k += 2) {
        add_edge(differences, row[k], 1.0 / kSubRows);
        add_edge(differences, row[k + 1], -1.0 / kSubRows);
        empty = false;
      }
    }
    if (empty) continue;
    double sum = 0.0;
    float* cover = &cover_[static_cast<std::size_t>(y * image_.width)];
    for (int64_t x = 0; x < image_.width; ++x) {
      sum += differences[static_cast<std::size_t>(x)];
      cover[x] = sum < 1e-6 ? 0.0F : static_cast<float>(sum);  // not what rounding leaves over
    }
    paint_row(y, 0, image_.width, colour, opacity);
  }
}

void Raster::paste(const Image& image, int64_t left, int64_t top) {
  const int64_t first = std::max<int64_t>(0, -left);
  const int64_t last = std::min(image.width, image_.width - left);
  if (first >= last) return;
  for (int64_t y = std::max<int64_t>(0, -top); y < std::min(image.height, image_.height - top);
       ++y) {
    std::copy_n(image.at(first, y), 3 * (last - first), image_.at(left + first, top + y));
  }
}

Lines dashes(std::span<const Point> line, bool closed, std::span<const double> pattern) {
  std::vector<Point> points(line.begin(), line.end());
  if (closed && !points.empty()) points.push_back(points.front());
  double period = 0.0;
  for (const double length : pattern) {
    expects(length >= 0.0, "a dash of length {}", length);
    period += length;
  }
  if (period <= 0.0 || points.size() < 2) return {points};
  Lines pieces{{points[0]}};
  std::size_t index = 0;
  double left = pattern[0];
  for (std::size_t k = 1; k < points.size(); ++k) {
    Point at = points[k - 1];
    double rest = std::hypot(points[k].x - at.x, points[k].y - at.y);
    while (rest > left) {
      const double t = left / rest;
      at = {at.x + t * (points[k].x - at.x), at.y + t * (points[k].y - at.y)};
      rest -= left;
      if (index % 2 == 0) pieces.back().push_back(at);
      if (++index % 2 == 0) pieces.push_back({at});
      left = pattern[index % pattern.size()];
    }
    left -= rest;
    if (index % 2 == 0) pieces.back().push_back(points[k]);
  }
  return pieces;
}

}  // namespace partwise::views
