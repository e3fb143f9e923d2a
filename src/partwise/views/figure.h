#pragma once

#include "partwise/base/geometry.h"
#include "partwise/images/image.h"
#include "partwise/views/heat_map.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace partwise::views {

constexpr Colour kInk = {20, 20, 20};
constexpr Colour kMutedInk = {95, 95, 95};

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 13.0;
  bool bold = false;
  Colour colour = kInk;
  Anchor anchor = Anchor::start;
  bool halo = false;    // an edge that lets the words stand on a photograph
  bool rising = false;  // read from bottom to top, for the label of an upright axis
};

struct Stroke {
  Colour colour = kInk;
  double width = 1.5;
  bool halo = false;  // an unbroken line under it, wider, dark under light and white under dark
  std::vector<double> dash = {};  // lengths of line and gap in turn; empty for a solid line
};

struct Fill {
  Fill(Colour fill, double share = 1.0) : colour(fill), opacity(share) {}  // NOLINT: a colour fills
  Colour colour;
  double opacity;
};

enum class Scaling { smooth, crisp };  // crisp: pixels stay squares, for the cells of a map

// Pictures, words and lines on a white sheet, in the order of the calls; units are pixels, y down.
// The same calls give an SVG, where text stays text, and a raster with lettering of our own: no
// font is needed, and the pixels are the same on every machine. Lines end and turn round.
class Figure {
 public:
  Figure(double width, double height);

  void picture(const images::Image& image, const Box& place, Scaling scaling = Scaling::smooth);
  void text(Point baseline, std::string_view words, const TextStyle& style = {});
  void rectangle(const Box& place,
                 std::optional<Fill> fill,
                 std::optional<Stroke> edge = std::nullopt);
  void path(std::span<const Point> points,
            const Stroke& stroke,
            bool closed = false,
            std::optional<Fill> fill = std::nullopt);
  // Closed outlines, as contour.h gives them: what an odd number of them encloses is inside.
  void region(std::span<const std::vector<Point>> outlines,
              std::optional<Fill> fill,
              std::optional<Stroke> edge = std::nullopt);

  // A whole document that needs no other file. Photographs are embedded with at most two pixels
  // per unit. Title and description are read out by screen readers.
  [[nodiscard]] std::string svg(const std::string& title, const std::string& description) const;
  // Anti-aliased; `scale` pixels per unit.
  [[nodiscard]] images::Image image(double scale = 1.0) const;

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }

 private:
  struct Photo {
    images::Image image;
    Box place;
    Scaling scaling;
  };
  struct Words {
    Point baseline;
    std::string words;
    TextStyle style;
  };
  struct Shape {
    std::vector<std::vector<Point>> outlines;
    bool closed;
    std::optional<Fill> fill;
    std::optional<Stroke> edge;
  };

  double width_;
  double height_;
  std::vector<std::variant<Photo, Words, Shape>> marks_;
};

// What the words take along their baseline: exact in the raster, and the SVG is told to keep to it.
double text_width(std::string_view words, const TextStyle& style);

// The words, cut with an ellipsis where they are wider than `width`; "" where not even that fits.
std::string fitted(std::string_view words, double width, const TextStyle& style);

}  // namespace partwise::views
