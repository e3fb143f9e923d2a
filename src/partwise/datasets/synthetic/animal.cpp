#include "partwise/datasets/synthetic/animal.h"

#include <cmath>
#include <numbers>

namespace partwise::datasets::synthetic {
namespace {

constexpr double kFarDim = 0.72;

}  // namespace

int AnimalBuilder::add(
    std::string_view part, std::vector<Shape> shapes, double merge, Paint paint, bool far) {
  if (far) paint.dim = kFarDim;
  animal_.layers.push_back({{std::move(shapes), merge, paint}, std::string(part), kAnyLayer});
  return static_cast<int>(animal_.layers.size()) - 1;
}

int AnimalBuilder::body(std::string_view part, std::vector<Shape> shapes, double merge, bool far) {
  return add(part, std::move(shapes), merge, palette_.body, far);
}

int AnimalBuilder::accent(std::string_view part,
                          std::vector<Shape> shapes,
                          double merge,
                          bool far) {
  return add(part, std::move(shapes), merge, palette_.accent, far);
}

int AnimalBuilder::mark(int on, std::vector<Shape> shapes, Colour colour, double opacity) {
  Paint paint;
  paint.base = colour;
  paint.flat = true;
  paint.opacity = opacity;
  const int number =
      add(animal_.layers[static_cast<std::size_t>(on)].part, std::move(shapes), 0.0, paint, false);
  animal_.layers.back().mark_on = on;
  return number;
}

void AnimalBuilder::point(std::string_view name, Point at, int layer) {
  const auto& of =
      layer == kAnyLayer ? animal_.layers.back() : animal_.layers[static_cast<std::size_t>(layer)];
  animal_.points.push_back({std::string(name), of.part, at, layer});
}

void AnimalBuilder::leg(const std::string& side, const LegShape& shape, const LegPose& pose) {
  const auto part = side + "-legs";
  const Point knee = pose.hip + heading(-90.0 + pose.swing, shape.upper);
  const Point ankle = knee + heading(-90.0 + pose.swing - pose.bend, shape.lower);
  body(part,
       {Shape::cone(pose.hip, knee, shape.thigh, shape.knee),
        Shape::cone(knee, ankle, shape.knee, shape.ankle)},
       0.05, pose.far);
  const Point toe = ankle + Point{shape.foot, 0.01};
  const int foot_layer =
      accent(part, {Shape::cone(ankle, toe, shape.ankle * 1.15, shape.ankle * 0.9)}, 0.0, pose.far);
  point(side + "-foot", ankle + Point{shape.foot * 0.5, 0.0}, foot_layer);
}

void AnimalBuilder::begin_head() {
  head_layers_ = animal_.layers.size();
  head_points_ = animal_.points.size();
}

void AnimalBuilder::turn_head(double pivot) {
  const double factor = random.chance(0.2) ? random.uniform(-1.0, -0.7) : random.uniform(0.7, 1.0);
  for (std::size_t i = head_layers_; i < animal_.layers.size(); ++i) {
    for (auto& shape : animal_.layers[i].layer.shapes) shape = turned(shape, pivot, factor);
  }
  for (std::size_t i = head_points_; i < animal_.points.size(); ++i) {
    auto& at = animal_.points[i].at;
    at.x = pivot + (at.x - pivot) * factor;
  }
}

void AnimalBuilder::eye(int on, Point at, double radius) {
  mark(on, {Shape::ellipse(at, radius * 1.35, radius * 1.35)}, {0.97, 0.97, 0.94});
  mark(on, {Shape::ellipse(at + Point{radius * 0.25, 0.0}, radius, radius)}, palette_.dark);
  mark(on, {Shape::ellipse(at + Point{radius * 0.5, -radius * 0.4}, radius * 0.35, radius * 0.35)},
       {1.0, 1.0, 1.0});
  point("eye", at, on);
}

void AnimalBuilder::nose(int on, Point at, double radius) {
  mark(on, {Shape::ellipse(at, radius, radius * 0.85)}, palette_.dark);
}

HeadPose draw_head_pose(Random& random) {
  const bool grazing = random.chance(0.35);
  HeadPose pose;
  pose.neck = grazing ? random.uniform(-45.0, -10.0) : random.uniform(15.0, 72.0);
  pose.head = grazing ? random.uniform(-55.0, -15.0) : random.uniform(-25.0, 25.0);
  return pose;
}

Stride draw_stride(Random& random, double reach) {
  const double phase = random.uniform(0.0, 2.0 * std::numbers::pi);
  const double width = random.uniform(0.3, 1.0) * reach;
  return {width * std::sin(phase), -width * std::sin(phase) + random.uniform(-5.0, 5.0)};
}

}  // namespace partwise::datasets::synthetic
