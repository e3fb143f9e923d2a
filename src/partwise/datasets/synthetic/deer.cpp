#include "partwise/datasets/synthetic/animal.h"

namespace partwise::datasets::synthetic {
namespace {

void antler(AnimalBuilder& animal, Point root, double degrees, double spread, bool far) {
  const auto beam = arc(root, degrees, spread, 0.5, 6);
  auto shapes = limb(beam, {0.034, 0.034, 0.032, 0.029, 0.027, 0.018});
  const double side = spread > 0.0 ? -1.0 : 1.0;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    const double direction = degrees + spread * static_cast<double>(i) / 5.0 + side * 62.0;
    shapes.push_back(Shape::cone(beam[i], beam[i] + heading(direction, 0.2), 0.026, 0.01));
  }
  const int layer = animal.accent("antlers", std::move(shapes), 0.02, far);
  if (!far) animal.point("antler-tip", beam[4] + (beam[5] - beam[4]) * 0.6, layer);
}

void ear(AnimalBuilder& animal, Point root, double degrees, bool far) {
  const Point middle = root + heading(degrees, 0.1);
  const int layer = animal.body("ears", {Shape::ellipse(middle, 0.12, 0.048, degrees)}, 0.0, far);
  animal.mark(layer, {Shape::ellipse(middle + heading(degrees, 0.01), 0.07, 0.02, degrees)},
              animal.palette().accent.base, 0.7);
}

void head(AnimalBuilder& animal, Point centre, double degrees) {
  animal.begin_head();
  auto& random = animal.random;
  const auto at = tilted_frame(centre, degrees);
  const double lean = random.uniform(-12.0, 12.0);
  antler(animal, at(0.0, 0.09), degrees + 78.0 + lean, -35.0, true);
  ear(animal, at(-0.1, 0.06), degrees + 128.0 + random.uniform(-20.0, 20.0), true);
  const int skull = animal.body("head",
                                {Shape::ellipse(centre, 0.155, 0.115, degrees),
                                 Shape::cone(at(0.08, -0.02), at(0.26, -0.05), 0.09, 0.062)},
                                0.05);
  animal.nose(skull, at(0.305, -0.035), 0.036);
  animal.eye(skull, at(0.04, 0.035), 0.03);
  animal.point("head", centre, skull);
  animal.point("nose", at(0.295, -0.04), skull);
  antler(animal, at(-0.06, 0.09), degrees + 105.0 + lean, 45.0, false);
  ear(animal, at(-0.12, 0.05), degrees + 155.0 + random.uniform(-20.0, 20.0), false);
  animal.turn_head(centre.x);
}

}  // namespace

void pose_deer(AnimalBuilder& animal) {
  auto& random = animal.random;
  const double half = random.uniform(0.3, 0.4);
  const LegShape shape{0.34, 0.36, 0.095, 0.048, 0.034, 0.045};
  const auto front = draw_stride(random, 30.0);
  const auto back = draw_stride(random, 30.0);
  const Point shoulder{half - 0.04, 0.08};
  const Point hip{-half + 0.02, 0.05};
  animal.front_leg(shape, {shoulder, front.far, random.uniform(-5.0, 30.0), true});
  animal.back_leg(shape, {hip, back.far + 8.0, random.uniform(0.0, 35.0), true});
  const Point tail_root{-half - 0.14, -0.1};
  const double tail_angle = random.uniform(120.0, 230.0);
  const int tail = animal.accent(
      "tail", {Shape::ellipse(tail_root + heading(tail_angle, 0.08), 0.12, 0.055, tail_angle)});
  animal.point("tail", tail_root + heading(tail_angle, 0.13), tail);
  const auto pose = draw_head_pose(random);
  const Point neck_root{half + 0.02, -0.06};
  const Point neck = neck_root + heading(pose.neck, random.uniform(0.36, 0.46));
  animal.body("neck", {Shape::cone(neck_root, neck, 0.15, 0.085)});
  animal.body("torso",
              {Shape::cone({-half, -0.01}, {half, 0.0}, 0.18, 0.2),
               Shape::ellipse({half - 0.02, 0.02}, 0.2, 0.21)},
              0.1);
  animal.point("torso", {0.0, 0.0});
  animal.back_leg(shape, {hip, back.near + 8.0, random.uniform(0.0, 35.0), false});
  animal.front_leg(shape, {shoulder, front.near, random.uniform(-5.0, 30.0), false});
  head(animal, neck + heading(pose.neck, 0.03), pose.head - 12.0);
}

}  // namespace partwise::datasets::synthetic
