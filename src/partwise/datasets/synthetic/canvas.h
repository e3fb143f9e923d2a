#pragma once

#include "partwise/datasets/synthetic/paint.h"
#include "partwise/datasets/synthetic/shapes.h"
#include "partwise/images/image.h"

#include <cstdint>
#include <vector>

namespace partwise::datasets::synthetic {

// Where a drawing lies in the image: scaled, mirrored, turned, moved.
struct View {
  double scale = 1.0;  // pixels a unit
  double degrees = 0.0;
  bool mirrored = false;
  Point origin;  // pixels

  [[nodiscard]] Point image_from_body(Point point) const;
};

struct Light {
  Point direction{-0.5, -0.6};  // towards the light, in the image plane; at most unit length
  double ambient = 0.6;
  Colour tint{1.0, 1.0, 1.0};
};

// Makes room for a shape as the view shows it, and `margin` pixels around it.
void include(Bounds& image, const Shape& shape, const View& view, double margin);

// One closed surface: the union of its shapes, painted over what is there.
struct Layer {
  std::vector<Shape> shapes;
  double merge = 0.0;
  Paint paint;
};

// What a pixel shows: the number of the last layer that covers its centre.
constexpr int16_t kNothing = -1;

struct Canvas {
  explicit Canvas(int64_t side);
  [[nodiscard]] std::size_t index(int64_t x, int64_t y) const {
    return static_cast<std::size_t>(y * side + x);
  }

  int64_t side;
  std::vector<Colour> colours;
  std::vector<int16_t> owners;
  std::vector<uint8_t> body;  // 1: some surface of the body lies in front here, shown or not
};

// `owner` marks the pixels covered. With `within` other than kNothing only the pixels owned by it
// are painted, and they keep their owner: a mark on a surface.
void paint_layer(Canvas& canvas,
                 const Layer& layer,
                 const View& view,
                 const Light& light,
                 int16_t owner,
                 int16_t within = kNothing);

// What a surface would have covered had it been painted. Nothing shows it, but surfaces painted
// over it look as if it were there: what is left out of a body changes no other part of it.
void leave_out_layer(Canvas& canvas, const Layer& layer, const View& view);

images::Image image_from_canvas(const Canvas& canvas);

}  // namespace partwise::datasets::synthetic
