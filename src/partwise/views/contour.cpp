#include "partwise/views/contour.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace partwise::views {
namespace {

constexpr double kOutside = -std::numeric_limits<double>::infinity();

// The field's cells as nodes, framed twice: first by copies of the outermost cells, which lie on
// the edge of the field, then by nodes that are outside, on the same edge. Whatever reaches the
// border therefore closes exactly there.
class FramedField {
 public:
  FramedField(std::span<const float> field, int64_t width, int64_t height, double level)
      : field_(field), width_(width), height_(height), level_(level) {}

  [[nodiscard]] int64_t columns() const { return width_ + 4; }
  [[nodiscard]] int64_t rows() const { return height_ + 4; }

  [[nodiscard]] double value(int64_t column, int64_t row) const {
    if (column == 0 || row == 0 || column == columns() - 1 || row == rows() - 1) return kOutside;
    const int64_t x = std::clamp<int64_t>(column - 2, 0, width_ - 1);
    const int64_t y = std::clamp<int64_t>(row - 2, 0, height_ - 1);
    const double found = field_[static_cast<std::size_t>(y * width_ + x)];
    return std::isnan(found) ? kOutside : found;
  }
  [[nodiscard]] bool inside(int64_t column, int64_t row) const {
    return value(column, row) >= level_;
  }
  [[nodiscard]] Point place(int64_t column, int64_t row) const {
    return {std::clamp(static_cast<double>(column) - 1.5, 0.0, static_cast<double>(width_)),
            std::clamp(static_cast<double>(row) - 1.5, 0.0, static_cast<double>(height_))};
  }

  // The edge from a node to the next one in its row (even) or column (odd).
  [[nodiscard]] int64_t edge(int64_t column, int64_t row, bool down) const {
    return 2 * (row * columns() + column) + (down ? 1 : 0);
  }
  [[nodiscard]] Point crossing(int64_t edge) const {
    const int64_t column = edge / 2 % columns();
    const int64_t row = edge / 2 / columns();
    const int64_t right = edge % 2 == 0 ? 1 : 0;
    const double from = value(column, row);
    const double to = value(column + right, row + 1 - right);
    const bool finite = std::isfinite(from) && std::isfinite(to);
    const double share = finite ? (level_ - from) / (to - from) : 0.5;
    const Point a = place(column, row);
    const Point b = place(column + right, row + 1 - right);
    return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
  }

 private:
  std::span<const float> field_;
  int64_t width_;
  int64_t height_;
  double level_;
};

// Where the outline goes on from every edge it crosses; -1 where it doesn't. Going round a square
// clockwise, an outline enters where one leaves the inside and ends where one comes back; the next
// square is gone round the other way along their common edge, so pieces join head to tail.
std::vector<int64_t> outline_steps(const FramedField& field, double level) {
  std::vector<int64_t> next(static_cast<std::size_t>(2 * field.columns() * field.rows()), -1);
  for (int64_t row = 0; row + 1 < field.rows(); ++row) {
    for (int64_t column = 0; column + 1 < field.columns(); ++column) {
      const std::array<std::array<int64_t, 2>, 4> corners = {
          {{column, row}, {column + 1, row}, {column + 1, row + 1}, {column, row + 1}}};
      const std::array<int64_t, 4> edges = {
          field.edge(column, row, false), field.edge(column + 1, row, true),
          field.edge(column, row + 1, false), field.edge(column, row, true)};
      std::vector<std::pair<int64_t, bool>> met;  // crossed edges, whether the inside is left
      double sum = 0.0;
      for (std::size_t k = 0; k < 4; ++k) {
        const bool here = field.inside(corners[k][0], corners[k][1]);
        const bool there = field.inside(corners[(k + 1) % 4][0], corners[(k + 1) % 4][1]);
        if (here != there) met.emplace_back(edges[k], here);
        sum += field.value(corners[k][0], corners[k][1]);
      }
      // At a saddle, a mean that is inside joins the two inner corners.
      const std::size_t partner = sum / 4.0 >= level ? 1 : met.size() - 1;
      for (std::size_t k = 0; k < met.size(); ++k) {
        if (met[k].second) {
          next[static_cast<std::size_t>(met[k].first)] = met[(k + partner) % met.size()].first;
        }
      }
    }
  }
  return next;
}

bool same_place(Point a, Point b) {
  return std::abs(a.x - b.x) < 1e-9 && std::abs(a.y - b.y) < 1e-9;
}

}  // namespace

std::vector<std::vector<Point>> contours(std::span<const float> field,
                                         int64_t width,
                                         int64_t height,
                                         double level) {
  expects(width >= 0 && height >= 0 && static_cast<int64_t>(field.size()) == width * height,
          "a field of {} values is not {} x {}", field.size(), width, height);
  std::vector<std::vector<Point>> outlines;
  if (field.empty()) return outlines;
  const FramedField framed(field, width, height, level);
  std::vector<int64_t> next = outline_steps(framed, level);
  for (int64_t start = 0; start < static_cast<int64_t>(next.size()); ++start) {
    std::vector<Point> outline;
    int64_t at = start;
    while (next[static_cast<std::size_t>(at)] >= 0) {
      const Point point = framed.crossing(at);
      if (outline.empty() || !same_place(point, outline.back())) outline.push_back(point);
      at = std::exchange(next[static_cast<std::size_t>(at)], -1);
    }
    while (outline.size() > 1 && same_place(outline.front(), outline.back())) outline.pop_back();
    if (outline.size() >= 3) outlines.push_back(std::move(outline));
  }
  return outlines;
}

Colour part_colour(int64_t index) {
  static constexpr std::array<Colour, kPartColours> kColours = {{{232, 99, 4},
                                                                 {168, 154, 251},
                                                                 {31, 145, 100},
                                                                 {255, 235, 6},
                                                                 {0, 38, 188},
                                                                 {125, 18, 0},
                                                                 {255, 157, 173},
                                                                 {76, 57, 61},
                                                                 {147, 220, 120},
                                                                 {114, 15, 119},
                                                                 {85, 255, 255},
                                                                 {153, 113, 156}}};
  const int64_t place = (index % kPartColours + kPartColours) % kPartColours;
  return kColours[static_cast<std::size_t>(place)];
}

}  // namespace partwise::views
