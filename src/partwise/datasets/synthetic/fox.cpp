#include "partwise/datasets/synthetic/animal.h"

namespace partwise::datasets::synthetic {
namespace {

void tail(AnimalBuilder& animal, Point root) {
  const double lift = animal.random.uniform(-40.0, 55.0);
  const double turn = animal.random.uniform(-70.0, 70.0);
  const auto curve = arc(root, 180.0 - lift, turn, 0.62, 7);
  animal.body("tail", limb(std::span(curve).first(6), {0.05, 0.09, 0.13, 0.15, 0.135, 0.085}),
              0.04);
  const int tip =
      animal.accent("tail", limb(std::span(curve).last(3), {0.135, 0.085, 0.015}), 0.03);
  animal.point("tail", curve[5], tip);
}

void ear(AnimalBuilder& animal, Point root, double degrees, bool far) {
  const Point tip = root + heading(degrees, 0.23);
  const int layer = animal.body("ears", {Shape::cone(root, tip, 0.095, 0.008)}, 0.0, far);
  if (far) return;
  const Point inner = root + heading(degrees, 0.03);
  animal.mark(layer, {Shape::cone(inner, root + heading(degrees, 0.17), 0.05, 0.005)},
              animal.palette().accent.base, 0.85);
  animal.point("ear-tip", root + heading(degrees, 0.17), layer);
}

void head(AnimalBuilder& animal, Point centre, double degrees) {
  animal.begin_head();
  const double twist = animal.random.uniform(-14.0, 14.0);
  const auto at = tilted_frame(centre, degrees);
  ear(animal, at(0.02, 0.12), degrees + 75.0 + twist, true);
  const Point muzzle = at(0.33, -0.05);
  const int skull = animal.body("head",
                                {Shape::ellipse(centre, 0.2, 0.165, degrees),
                                 Shape::cone(at(0.08, -0.03), muzzle, 0.11, 0.035)},
                                0.06);
  animal.mark(skull, {Shape::ellipse(at(0.1, -0.13), 0.2, 0.065, degrees + 8.0)},
              animal.palette().accent.base, 0.85);
  animal.nose(skull, at(0.335, -0.035), 0.038);
  animal.eye(skull, at(0.09, 0.05), 0.032);
  animal.point("head", centre, skull);
  animal.point("nose", at(0.325, -0.04), skull);
  ear(animal, at(-0.08, 0.12), degrees + 95.0 + twist, false);
  animal.turn_head(centre.x);
}

}  // namespace

void pose_fox(AnimalBuilder& animal) {
  auto& random = animal.random;
  const double half = random.uniform(0.3, 0.4);
  const LegShape shape{0.24, 0.24, 0.1, 0.06, 0.045, 0.07};
  const auto front = draw_stride(random, 38.0);
  const auto back = draw_stride(random, 38.0);
  const Point shoulder{half - 0.02, 0.08};
  const Point hip{-half, 0.06};
  animal.front_leg(shape, {shoulder, front.far, random.uniform(0.0, 30.0), true});
  animal.back_leg(shape, {hip, back.far, random.uniform(0.0, 35.0), true});
  tail(animal, {-half - 0.1, -0.04});
  const auto pose = draw_head_pose(random);
  const Point neck_root{half, -0.05};
  const Point neck = neck_root + heading(pose.neck, 0.27);
  const int torso = animal.body(
      "torso",
      {Shape::cone({-half, 0.0}, {half, 0.0}, 0.19, 0.2), Shape::cone(neck_root, neck, 0.17, 0.11)},
      0.12);
  animal.point("torso", {0.0, 0.0}, kAnyLayer);
  animal.mark(torso, {Shape::ellipse(neck_root + Point{0.14, 0.12}, 0.12, 0.14)},
              animal.palette().accent.base, 0.8);
  animal.back_leg(shape, {hip, back.near, random.uniform(0.0, 35.0), false});
  animal.front_leg(shape, {shoulder, front.near, random.uniform(0.0, 30.0), false});
  head(animal, neck + heading(pose.neck, 0.06), pose.head);
}

}  // namespace partwise::datasets::synthetic
