#include "partwise/datasets/synthetic/shapes.h"

#include <numbers>

namespace partwise::datasets::synthetic {

Point heading(double degrees, double length) {
  const double radians = degrees * std::numbers::pi / 180.0;
  return {std::cos(radians) * length, -std::sin(radians) * length};
}

Shape Shape::cone(Point a, Point b, double ra, double rb) {
  return {Kind::cone, a, b, ra, rb};
}

Shape Shape::ellipse(Point centre, double rx, double ry, double degrees) {
  return {Kind::ellipse, centre, heading(degrees, 1.0), rx, ry};
}

Shape Shape::dome(Point centre, double rx, double ry, double degrees) {
  return {Kind::dome, centre, heading(degrees, 1.0), rx, ry};
}

Shape turned(const Shape& shape, double pivot, double factor) {
  const auto move = [&](double x) { return pivot + (x - pivot) * factor; };
  Shape result = shape;
  result.a.x = move(shape.a.x);
  if (shape.kind == Shape::Kind::cone) {
    result.b.x = move(shape.b.x);
    return result;
  }
  // The axis may be replaced by its opposite; this choice keeps a dome upright when mirrored.
  const Point axis{shape.b.x * std::abs(factor), factor < 0.0 ? -shape.b.y : shape.b.y};
  const double length = std::sqrt(dot(axis, axis));
  result.b = axis * (1.0 / std::max(length, 1e-9));
  if (shape.ra > shape.rb) result.ra = std::lerp(shape.rb, shape.ra, length);
  return result;
}

double signed_distance(const Shape& shape, Point point) {
  const Point from_a = point - shape.a;
  if (shape.kind == Shape::Kind::cone) {
    const Point axis = shape.b - shape.a;
    const double along = std::clamp(dot(from_a, axis) / std::max(dot(axis, axis), 1e-12), 0.0, 1.0);
    const Point off = from_a - axis * along;
    return std::sqrt(dot(off, off)) - (shape.ra + (shape.rb - shape.ra) * along);
  }
  const double u = dot(from_a, shape.b) / shape.ra;
  const double v = (shape.b.x * from_a.y - shape.b.y * from_a.x) / shape.rb;
  const double k = std::sqrt(u * u + v * v);
  const double slope = std::sqrt(u * u / (shape.ra * shape.ra) + v * v / (shape.rb * shape.rb));
  const double ellipse = slope > 1e-9 ? k * (k - 1.0) / slope : -std::min(shape.ra, shape.rb);
  return shape.kind == Shape::Kind::dome ? std::max(ellipse, v * shape.rb) : ellipse;
}

void Bounds::include(Point point, double radius) {
  low = {std::min(low.x, point.x - radius), std::min(low.y, point.y - radius)};
  high = {std::max(high.x, point.x + radius), std::max(high.y, point.y + radius)};
}

void include(Bounds& bounds, const Shape& shape) {
  if (shape.kind == Shape::Kind::cone) {
    bounds.include(shape.a, shape.ra);
    bounds.include(shape.b, shape.rb);
    return;
  }
  const double half_width = std::hypot(shape.ra * shape.b.x, shape.rb * shape.b.y);
  const double half_height = std::hypot(shape.ra * shape.b.y, shape.rb * shape.b.x);
  bounds.include(shape.a - Point{half_width, half_height}, 0.0);
  bounds.include(shape.a + Point{half_width, half_height}, 0.0);
}

std::vector<Shape> limb(std::span<const Point> points, const std::vector<double>& radii) {
  std::vector<Shape> shapes;
  for (std::size_t i = 1; i < points.size(); ++i) {
    shapes.push_back(Shape::cone(points[i - 1], points[i], radii[i - 1], radii[i]));
  }
  return shapes;
}

std::vector<Point> arc(Point from, double degrees, double turn, double length, int count) {
  std::vector<Point> points{from};
  for (int i = 1; i < count; ++i) {
    const double share = (i - 0.5) / (count - 1);
    points.push_back(points.back() + heading(degrees + turn * share, length / (count - 1)));
  }
  return points;
}

}  // namespace partwise::datasets::synthetic
