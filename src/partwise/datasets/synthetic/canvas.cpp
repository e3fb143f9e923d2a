#include "partwise/datasets/synthetic/canvas.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace partwise::datasets::synthetic {
namespace {

// Pixels [left, right) x [top, bottom).
struct Region {
  int64_t left = 0;
  int64_t top = 0;
  int64_t right = 0;
  int64_t bottom = 0;
  [[nodiscard]] int64_t width() const { return right - left; }
  [[nodiscard]] int64_t height() const { return bottom - top; }
};

// The inverse of a View, ready for a walk along rows.
struct BodyFromImage {
  Point origin;
  Point step_x;
  Point step_y;

  explicit BodyFromImage(const View& view) {
    const double radians = view.degrees * std::numbers::pi / 180.0;
    const double c = std::cos(radians) / view.scale;
    const double s = std::sin(radians) / view.scale;
    const double sign = view.mirrored ? -1.0 : 1.0;
    step_x = {sign * c, -s};
    step_y = {sign * s, c};
    origin = Point{} - step_x * view.origin.x - step_y * view.origin.y;
  }
  Point operator()(double x, double y) const { return origin + step_x * x + step_y * y; }
};

Region region_of(const Bounds& bounds, int64_t side) {
  const auto clip = [&](double edge) { return std::clamp<int64_t>(std::llround(edge), 0, side); };
  return {clip(bounds.low.x), clip(bounds.low.y), clip(bounds.high.x), clip(bounds.high.y)};
}

// Where the shapes of a layer can be seen.
struct Extent {
  std::vector<Region> shapes;
  Region hull;  // around all of them; never empty
};

std::optional<Extent> extent_of(const Layer& layer, const View& view, int64_t side) {
  if (layer.shapes.empty()) return std::nullopt;
  const double margin = 2.0 + layer.merge * view.scale;  // for outlines and merged creases
  Extent extent;
  Bounds hull;
  for (const auto& shape : layer.shapes) {
    Bounds image;
    include(image, shape, view, margin);
    include(hull, shape, view, margin);
    extent.shapes.push_back(region_of(image, side));
  }
  extent.hull = region_of(hull, side);
  if (extent.hull.width() <= 0 || extent.hull.height() <= 0) return std::nullopt;
  return extent;
}

// visit(x, y), counted from the region's corner.
template <typename Visit>
void for_each_pixel(const Region& region, const Visit& visit) {
  for (int64_t y = 0; y < region.height(); ++y) {
    for (int64_t x = 0; x < region.width(); ++x) visit(x, y);
  }
}

// Signed distances in pixels at pixel centres, with a border of one pixel for differences. Each
// shape is looked at only where it can be the nearest; farther out lies a large number.
class DistanceField {
 public:
  DistanceField(const Layer& layer, const View& view, const Extent& extent)
      : stride_(extent.hull.width() + 2),
        values_(static_cast<std::size_t>(stride_ * (extent.hull.height() + 2)), kFar) {
    const BodyFromImage body(view);
    const Region& hull = extent.hull;
    for (std::size_t i = 0; i < layer.shapes.size(); ++i) {
      const auto& region = extent.shapes[i];
      for (int64_t y = region.top - 1; y <= region.bottom; ++y) {
        for (int64_t x = region.left - 1; x <= region.right; ++x) {
          const Point point = body(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
          const double distance = signed_distance(layer.shapes[i], point) * view.scale;
          auto& value = values_[index(x - hull.left, y - hull.top)];
          value = static_cast<float>(merged_distance(value, distance, layer.merge * view.scale));
        }
      }
    }
  }

  [[nodiscard]] double at(int64_t x, int64_t y) const { return values_[index(x, y)]; }
  // Unit vector away from the surface's middle.
  [[nodiscard]] Point outward(int64_t x, int64_t y) const {
    const Point slope{at(x + 1, y) - at(x - 1, y), at(x, y + 1) - at(x, y - 1)};
    const double length = std::sqrt(dot(slope, slope));
    return length > 1e-6 ? slope * (1.0 / length) : Point{};
  }
  [[nodiscard]] double depth() const { return -*std::min_element(values_.begin(), values_.end()); }

 private:
  static constexpr float kFar = 1e4F;

  [[nodiscard]] std::size_t index(int64_t x, int64_t y) const {
    return static_cast<std::size_t>((y + 1) * stride_ + x + 1);
  }

  int64_t stride_;
  std::vector<float> values_;
};

// Where a surface lies over another of the same body its edge is drawn softly, so that limbs grow
// out of the torso instead of lying on it.
constexpr double kInnerLine = 0.45;
constexpr double kInnerTilt = 0.7;

// Light on a surface that faces the viewer but for `tilt`.
Colour lit(Colour colour, const Paint& paint, const Light& light, Point tilt) {
  if (paint.under_share > 0.0) {
    colour = mix(colour, paint.under, paint.under_share * std::clamp(tilt.y * 1.6, 0.0, 1.0));
  }
  const double level = std::sqrt(std::max(0.0, 1.0 - dot(tilt, tilt)));
  const double height = std::sqrt(std::max(0.0, 1.0 - dot(light.direction, light.direction)));
  const double facing = std::max(0.0, dot(tilt, light.direction) + level * height);
  const double cubed = facing * facing * facing;
  const double gloss = cubed * cubed * cubed * cubed * 0.12;
  const double shade = (light.ambient + (1.15 - light.ambient) * facing) * paint.dim;
  return {colour.r * shade * light.tint.r + gloss, colour.g * shade * light.tint.g + gloss,
          colour.b * shade * light.tint.b + gloss};
}

Colour outlined(Colour colour, const Paint& paint, double distance, double width, double strength) {
  const double share = std::clamp(1.0 + (distance + width) / width, 0.0, 1.0);
  return mix(colour, paint.base * (0.28 * paint.dim), share * paint.line * strength);
}

// What a layer looks like at the pixels of its field.
class Surface {
 public:
  Surface(const Paint& paint, const Light& light, const DistanceField& field, int64_t side)
      : paint_(paint),
        light_(light),
        field_(field),
        bulge_(std::max(field.depth(), 1.0)),
        line_width_(static_cast<double>(side) / 128.0 * 0.7) {}

  // `inner`: the pixel lies over another surface of the same body.
  [[nodiscard]] Colour colour(int64_t x, int64_t y, Point point, bool inner) const {
    const Colour plain = surface_colour(paint_, point);
    if (paint_.flat) return plain;
    const double distance = field_.at(x, y);
    // It bulges like a cushion: steep at its edge, level in its middle.
    const double steep = 1.0 - std::clamp(-distance / bulge_, 0.0, 1.0);
    const Point tilt = field_.outward(x, y) * (inner ? steep * kInnerTilt : steep);
    const Colour shaded = lit(plain, paint_, light_, tilt);
    return outlined(shaded, paint_, distance, line_width_, inner ? kInnerLine : 1.0);
  }

 private:
  const Paint& paint_;
  const Light& light_;
  const DistanceField& field_;
  double bulge_;
  double line_width_;
};

}  // namespace

Point View::image_from_body(Point point) const {
  const double radians = degrees * std::numbers::pi / 180.0;
  const double x = mirrored ? -point.x : point.x;
  return origin + Point{x * std::cos(radians) - point.y * std::sin(radians),
                        x * std::sin(radians) + point.y * std::cos(radians)} *
                      scale;
}

void include(Bounds& image, const Shape& shape, const View& view, double margin) {
  Bounds body;
  include(body, shape);
  for (const Point corner :
       {body.low, body.high, Point{body.low.x, body.high.y}, Point{body.high.x, body.low.y}}) {
    image.include(view.image_from_body(corner), margin);
  }
}

Canvas::Canvas(int64_t side_pixels)
    : side(side_pixels),
      colours(static_cast<std::size_t>(side * side)),
      owners(static_cast<std::size_t>(side * side), kNothing),
      body(static_cast<std::size_t>(side * side), 0) {}

void paint_layer(Canvas& canvas,
                 const Layer& layer,
                 const View& view,
                 const Light& light,
                 int16_t owner,
                 int16_t within) {
  const auto covered = extent_of(layer, view, canvas.side);
  if (!covered) return;
  const auto& region = covered->hull;
  const DistanceField field(layer, view, *covered);
  const Surface surface(layer.paint, light, field, canvas.side);
  const BodyFromImage body(view);
  for_each_pixel(region, [&](int64_t x, int64_t y) {
    const double distance = field.at(x, y);
    const auto pixel = canvas.index(region.left + x, region.top + y);
    auto& current = canvas.owners[pixel];
    if (distance >= 0.5 || (within != kNothing && current != within)) return;
    const Point point =
        body(static_cast<double>(region.left + x) + 0.5, static_cast<double>(region.top + y) + 0.5);
    const Colour colour = surface.colour(x, y, point, canvas.body[pixel] != 0);
    const double cover = std::min(0.5 - distance, 1.0) * layer.paint.opacity;
    canvas.colours[pixel] = mix(canvas.colours[pixel], colour, cover);
    if (distance >= 0.0 || within != kNothing) return;
    current = owner;
    canvas.body[pixel] = owner != kNothing ? 1 : 0;
  });
}

void leave_out_layer(Canvas& canvas, const Layer& layer, const View& view) {
  const auto covered = extent_of(layer, view, canvas.side);
  if (!covered) return;
  const auto& region = covered->hull;
  const DistanceField field(layer, view, *covered);
  for_each_pixel(region, [&](int64_t x, int64_t y) {
    if (field.at(x, y) < 0.0) canvas.body[canvas.index(region.left + x, region.top + y)] = 1;
  });
}

images::Image image_from_canvas(const Canvas& canvas) {
  auto image = images::Image::blank(canvas.side, canvas.side);
  uint8_t* out = image.pixels.data();
  for (const auto& colour : canvas.colours) {
    for (const double value : {colour.r, colour.g, colour.b}) {
      *out++ = static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255.0));
    }
  }
  return image;
}

}  // namespace partwise::datasets::synthetic
