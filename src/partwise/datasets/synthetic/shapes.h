#pragma once

#include "partwise/base/geometry.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace partwise::datasets::synthetic {

inline Point operator+(Point a, Point b) {
  return {a.x + b.x, a.y + b.y};
}
inline Point operator-(Point a, Point b) {
  return {a.x - b.x, a.y - b.y};
}
inline Point operator*(Point a, double s) {
  return {a.x * s, a.y * s};
}
inline double dot(Point a, Point b) {
  return a.x * b.x + a.y * b.y;
}

// A step of `length` in a direction given in degrees: 0 forward (+x), 90 up (-y), -90 down.
Point heading(double degrees, double length);

// at(along, above): the point so far along the direction `degrees` from the centre, and so far to
// its left.
inline auto tilted_frame(Point centre, double degrees) {
  return [=](double along, double above) {
    return centre + heading(degrees, along) + heading(degrees + 90.0, above);
  };
}

// What bodies, plants and stones are made of.
struct Shape {
  enum class Kind { cone, ellipse, dome };

  // A limb from a to b whose radius goes from ra to rb; round at both ends.
  static Shape cone(Point a, Point b, double ra, double rb);
  // Half-axes rx, ry; rx points in the direction `degrees`.
  static Shape ellipse(Point centre, double rx, double ry, double degrees = 0.0);
  // The ellipse's upper half.
  static Shape dome(Point centre, double rx, double ry, double degrees = 0.0);

  Kind kind = Kind::cone;
  Point a;
  Point b;  // an ellipse's axis of unit length
  double ra = 0.0;
  double rb = 0.0;
};

// The shape with x moved to pivot + (x - pivot) * factor; its thickness stays, a long ellipse gets
// rounder.
Shape turned(const Shape& shape, double pivot, double factor);

// Negative inside; near the edge it is the distance, farther away only its sign and order matter.
double signed_distance(const Shape& shape, Point point);

// The distance to the union of two shapes, with the crease rounded over a width of about `merge`.
inline double merged_distance(double a, double b, double merge) {
  const double overlap = merge - std::abs(a - b);
  const double nearer = std::min(a, b);
  return overlap > 0.0 ? nearer - overlap * overlap / (4.0 * merge) : nearer;
}

// Axis-parallel bounds that hold the shape.
struct Bounds {
  Point low{1e9, 1e9};
  Point high{-1e9, -1e9};
  void include(Point point, double radius);
};
void include(Bounds& bounds, const Shape& shape);

// A limb along points whose radius is given at each of them.
std::vector<Shape> limb(std::span<const Point> points, const std::vector<double>& radii);

// `count` points on a curve that starts at `from` in direction `degrees` and turns steadily by
// `turn` degrees over its `length`.
std::vector<Point> arc(Point from, double degrees, double turn, double length, int count);

}  // namespace partwise::datasets::synthetic
