#include "partwise/views/figure.h"

#include "partwise/base/error.h"
#include "partwise/base/utf8.h"
#include "partwise/formats/base64.h"
#include "partwise/images/codec.h"
#include "partwise/images/resize.h"
#include "partwise/views/lettering.h"
#include "partwise/views/markup.h"
#include "partwise/views/raster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace partwise::views {

using images::Image;

namespace {

constexpr double kHaloOpacity = 0.85;
constexpr double kLineHalo = 1.2;  // on each side
constexpr double kEmbeddedDensity = 2.0;
constexpr double kFarthest = 1e9;
constexpr std::string_view kEllipsis = "…";

double text_halo(double size) {
  return std::max(1.5, 0.13 * size);
}

Colour halo_of(Colour colour) {
  const double luminance = 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2];
  return luminance < 110.0 ? Colour{255, 255, 255} : kInk;
}

void expect_finite(Point point) {
  expects(std::isfinite(point.x) && std::isfinite(point.y), "a figure's point ({}, {})", point.x,
          point.y);
}

// Nearest pixel, for cells that stay squares.
Image enlarged_crisply(const Image& image, int64_t width, int64_t height) {
  Image large = Image::blank(width, height);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      std::copy_n(image.at((2 * x + 1) * image.width / (2 * width),
                           (2 * y + 1) * image.height / (2 * height)),
                  3, large.at(x, y));
    }
  }
  return large;
}

Image scaled_to(const Image& image, int64_t width, int64_t height, Scaling scaling) {
  if (image.width == width && image.height == height) return image;
  if (scaling == Scaling::crisp && width >= image.width && height >= image.height) {
    return enlarged_crisply(image, width, height);
  }
  return images::resize_antialiased(image, {0, 0, image.width, image.height}, width, height);
}

double shift_of(Anchor anchor, double width) {
  switch (anchor) {
    case Anchor::start:
      return 0.0;
    case Anchor::middle:
      return -width / 2.0;
    case Anchor::end:
      return -width;
  }
  return 0.0;
}

class FigurePainter {
 public:
  FigurePainter(int64_t width, int64_t height, double scale)
      : raster_(width, height), scale_(scale) {}

  void picture(const Image& image, const Box& place, Scaling scaling) {
    const int64_t left = std::llround(scale_ * place.x);
    const int64_t top = std::llround(scale_ * place.y);
    const int64_t right = std::llround(scale_ * (place.x + place.width));
    const int64_t bottom = std::llround(scale_ * (place.y + place.height));
    raster_.paste(scaled_to(image, std::max<int64_t>(1, right - left),
                            std::max<int64_t>(1, bottom - top), scaling),
                  left, top);
  }

  void text(Point baseline, std::string_view words, const TextStyle& style) {
    const double size = scale_ * style.size;
    const double shift = shift_of(style.anchor, lettering_width(words, size, style.bold));
    Lettering letters = lettering(words, size, style.bold);
    const Point start{scale_ * baseline.x, scale_ * baseline.y};
    for (auto& line : letters.lines) {
      for (Point& point : line) {
        point = style.rising ? Point{std::round(start.x) + point.y, start.y - shift - point.x}
                             : Point{start.x + shift + point.x, std::round(start.y) + point.y};
      }
    }
    if (style.halo) {
      raster_.stroke(letters.lines, letters.pen + 2.0 * text_halo(size), halo_of(style.colour),
                     kHaloOpacity);
    }
    raster_.stroke(letters.lines, letters.pen, style.colour);
  }

  void shape(const Lines& outlines,
             bool closed,
             const std::optional<Fill>& fill,
             const std::optional<Stroke>& edge) {
    Lines placed = outlines;
    for (auto& outline : placed) {
      for (Point& point : outline) point = {scale_ * point.x, scale_ * point.y};
    }
    if (fill) raster_.fill(placed, fill->colour, fill->opacity);
    if (!edge) return;
    Lines whole;
    Lines pieces;
    std::vector<double> dash = edge->dash;
    for (double& length : dash) length *= scale_;
    for (const auto& outline : placed) {
      std::ranges::move(dashes(outline, closed, {}), std::back_inserter(whole));
      std::ranges::move(dashes(outline, closed, dash), std::back_inserter(pieces));
    }
    const double pen = scale_ * edge->width;
    if (edge->halo) {
      raster_.stroke(whole, pen + 2.0 * scale_ * kLineHalo, halo_of(edge->colour), kHaloOpacity);
    }
    raster_.stroke(pieces, pen, edge->colour);
  }

  [[nodiscard]] const Image& image() const { return raster_.image(); }

 private:
  Raster raster_;
  double scale_;
};

// At most two decimals, none that say nothing.
std::string short_number(double value) {
  std::string digits = fmt::format("{:.2f}", value);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

std::string hex(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]);
}

std::string picture_svg(const Image& image, const Box& place, Scaling scaling) {
  const auto most = [](double units) {
    return std::max<int64_t>(1, std::llround(std::ceil(kEmbeddedDensity * units)));
  };
  // Cells are embedded as squares of pixels: not every viewer knows image-rendering.
  const bool crisp = scaling == Scaling::crisp;
  const int64_t width = crisp ? most(place.width) : std::min(image.width, most(place.width));
  const int64_t height = crisp ? most(place.height) : std::min(image.height, most(place.height));
  return fmt::format(
      R"(<image x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none"{} href="data:image/png;base64,{}"/>)",
      short_number(place.x), short_number(place.y), short_number(place.width),
      short_number(place.height), crisp ? R"( image-rendering="pixelated")" : "",
      formats::base64(images::encode_png(scaled_to(image, width, height, scaling))));
}

std::string text_svg(Point at, std::string_view words, const TextStyle& style) {
  std::string more;
  if (style.bold) more += R"( font-weight="bold")";
  if (style.anchor == Anchor::middle) more += R"( text-anchor="middle")";
  if (style.anchor == Anchor::end) more += R"( text-anchor="end")";
  if (style.rising) {
    more +=
        fmt::format(R"_( transform="rotate(-90 {} {})")_", short_number(at.x), short_number(at.y));
  }
  if (style.halo) {
    more += fmt::format(
        R"( stroke="{}" stroke-width="{}" stroke-opacity="{}" stroke-linejoin="round" paint-order="stroke")",
        hex(halo_of(style.colour)), short_number(2.0 * text_halo(style.size)), kHaloOpacity);
  }
  return fmt::format(
      R"(<text x="{}" y="{}" font-size="{}" fill="{}" textLength="{}" lengthAdjust="spacingAndGlyphs"{}>{}</text>)",
      short_number(at.x), short_number(at.y), short_number(style.size), hex(style.colour),
      short_number(text_width(words, style)), more, escape_markup(words));
}

std::string line_svg(const std::string& path,
                     Colour colour,
                     double width,
                     const std::string& more) {
  return fmt::format(
      R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-linecap="round" stroke-linejoin="round"{}/>)",
      path, hex(colour), short_number(width), more);
}

std::string shape_svg(const Lines& outlines,
                      bool closed,
                      const std::optional<Fill>& fill,
                      const std::optional<Stroke>& edge) {
  std::string path;
  for (const auto& outline : outlines) {
    char command = 'M';
    for (const Point& point : outline) {
      path += fmt::format("{}{} {}", command, short_number(point.x), short_number(point.y));
      command = 'L';
    }
    if (outline.size() == 1)
      path += fmt::format("L{} {}", short_number(outline[0].x), short_number(outline[0].y));
    if (closed) path += 'Z';
  }
  std::string svg;
  if (fill) {
    const std::string opacity =
        fill->opacity < 1.0 ? fmt::format(R"( fill-opacity="{:.3g}")", fill->opacity) : "";
    svg += fmt::format(R"(<path d="{}" fill="{}" fill-rule="evenodd"{}/>)", path, hex(fill->colour),
                       opacity);
  }
  if (!edge) return svg;
  if (edge->halo) {
    svg += line_svg(path, halo_of(edge->colour), edge->width + 2.0 * kLineHalo,
                    fmt::format(R"( stroke-opacity="{}")", kHaloOpacity));
  }
  std::string dash;
  for (const double length : edge->dash) {
    dash += (dash.empty() ? "" : " ") + short_number(length);
  }
  svg += line_svg(path, edge->colour, edge->width,
                  dash.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", dash));
  return svg;
}

}  // namespace

Figure::Figure(double width, double height) : width_(width), height_(height) {
  expects(width >= 1.0 && height >= 1.0 && width * height <= images::kMostPixels,
          "a figure of {} x {}", width, height);
}

void Figure::picture(const Image& image, const Box& place, Scaling scaling) {
  expects(std::abs(place.x) <= kFarthest && std::abs(place.y) <= kFarthest, "a picture at ({}, {})",
          place.x, place.y);
  expects(image.width > 0 && image.height > 0 && place.width > 0.0 && place.height > 0.0 &&
              place.width <= images::kMostPixels / place.height,
          "a picture of {} x {} in a place of {} x {}", image.width, image.height, place.width,
          place.height);
  marks_.emplace_back(Photo{image, place, scaling});
}

void Figure::text(Point baseline, std::string_view words, const TextStyle& style) {
  expect_finite(baseline);
  expects(style.size > 0.0 && style.size <= 1000.0, "text of size {}", style.size);
  if (words.empty()) return;
  marks_.emplace_back(Words{baseline, std::string(words), style});
}

void Figure::rectangle(const Box& place, std::optional<Fill> fill, std::optional<Stroke> edge) {
  const double right = place.x + place.width;
  const double bottom = place.y + place.height;
  region(Lines{{{place.x, place.y}, {right, place.y}, {right, bottom}, {place.x, bottom}}}, fill,
         std::move(edge));
}

void Figure::path(std::span<const Point> points,
                  const Stroke& stroke,
                  bool closed,
                  std::optional<Fill> fill) {
  if (points.empty()) return;
  std::ranges::for_each(points, expect_finite);
  marks_.emplace_back(Shape{{{points.begin(), points.end()}}, closed, fill, stroke});
}

void Figure::region(std::span<const std::vector<Point>> outlines,
                    std::optional<Fill> fill,
                    std::optional<Stroke> edge) {
  Lines kept;
  for (const auto& outline : outlines) {
    std::ranges::for_each(outline, expect_finite);
    if (!outline.empty()) kept.push_back(outline);
  }
  if (kept.empty()) return;
  marks_.emplace_back(Shape{std::move(kept), true, fill, std::move(edge)});
}

Image Figure::image(double scale) const {
  expects(scale > 0.0 && width_ * scale * height_ * scale <= images::kMostPixels,
          "a figure of {} x {} at scale {}", width_, height_, scale);
  // Less a hair, so that 0.1 * 30 doesn't become four pixels.
  const auto pixels = [scale](double units) {
    return std::max<int64_t>(1, std::llround(std::ceil(units * scale - 1e-6)));
  };
  FigurePainter painter(pixels(width_), pixels(height_), scale);
  for (const auto& mark : marks_) {
    if (const auto* photo = std::get_if<Photo>(&mark)) {
      painter.picture(photo->image, photo->place, photo->scaling);
    } else if (const auto* words = std::get_if<Words>(&mark)) {
      painter.text(words->baseline, words->words, words->style);
    } else if (const auto* shape = std::get_if<Shape>(&mark)) {
      painter.shape(shape->outlines, shape->closed, shape->fill, shape->edge);
    }
  }
  return painter.image();
}

std::string Figure::svg(const std::string& title, const std::string& description) const {
  std::string body;
  for (const auto& mark : marks_) {
    if (const auto* photo = std::get_if<Photo>(&mark)) {
      body += picture_svg(photo->image, photo->place, photo->scaling);
    } else if (const auto* words = std::get_if<Words>(&mark)) {
      body += text_svg(words->baseline, words->words, words->style);
    } else if (const auto* shape = std::get_if<Shape>(&mark)) {
      body += shape_svg(shape->outlines, shape->closed, shape->fill, shape->edge);
    }
    body += '\n';
  }
  const std::string width = short_number(width_);
  const std::string height = short_number(height_);
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" xml:space="preserve" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif">)"
      "\n<title>{2}</title>\n<desc>{3}</desc>\n"
      R"(<rect width="{0}" height="{1}" fill="#ffffff"/>)"
      "\n{4}</svg>\n",
      width, height, escape_markup(title), escape_markup(description), body);
}

double text_width(std::string_view words, const TextStyle& style) {
  return lettering_width(words, style.size, style.bold);
}

std::string fitted(std::string_view words, double width, const TextStyle& style) {
  if (text_width(words, style) <= width) return std::string(words);
  std::string longest;
  std::string_view rest = words;
  while (!rest.empty()) {
    const std::string_view kept = words.substr(0, words.size() - rest.size());
    const std::string cut = std::string(kept) + std::string(kEllipsis);
    if (text_width(cut, style) > width) break;
    if (!kept.ends_with(' ')) longest = cut;
    take_character(rest);
  }
  return longest;
}

}  // namespace partwise::views
