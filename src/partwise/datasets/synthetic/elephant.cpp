#include "partwise/datasets/synthetic/animal.h"

namespace partwise::datasets::synthetic {
namespace {

void trunk(AnimalBuilder& animal, Point root, double degrees) {
  auto& random = animal.random;
  const bool raised = random.chance(0.4);
  const double start =
      degrees + (raised ? random.uniform(-25.0, 10.0) : random.uniform(-75.0, -45.0));
  const double turn = raised ? random.uniform(60.0, 170.0) : random.uniform(-60.0, 110.0);
  const auto curve = arc(root, start, turn, 0.75, 9);
  std::vector<double> radii(9);
  for (std::size_t i = 0; i < radii.size(); ++i) radii[i] = 0.125 - 0.0095 * static_cast<double>(i);
  const int layer = animal.body("trunk", limb(curve, radii), 0.02);
  for (const std::size_t i : {std::size_t{2}, std::size_t{4}, std::size_t{6}}) {
    const double across = start + turn * static_cast<double>(i) / 8.0 + 90.0;
    const Point reach = heading(across, radii[i] * 0.7);
    animal.mark(layer, {Shape::cone(curve[i] - reach, curve[i] + reach, 0.009, 0.009)},
                animal.palette().dark, 0.45);
  }
  animal.point("trunk-tip", curve.back(), layer);
}

void ear(AnimalBuilder& animal, Point root, double degrees) {
  const double flap = animal.random.uniform(-22.0, 22.0);
  const Point middle = root + heading(degrees + 175.0 + flap, 0.17);
  const int layer = animal.body("ears",
                                {Shape::ellipse(middle, 0.24, 0.29, degrees + flap),
                                 Shape::ellipse(middle + Point{-0.02, 0.16}, 0.14, 0.17)},
                                0.08);
  animal.mark(layer, {Shape::ellipse(middle + Point{-0.01, 0.03}, 0.15, 0.2, degrees + flap)},
              animal.palette().accent.base, 0.6);
}

void head(AnimalBuilder& animal, Point centre, double degrees) {
  const auto at = tilted_frame(centre, degrees);
  trunk(animal, at(0.2, -0.06), degrees);
  const int skull = animal.body("head",
                                {Shape::ellipse(centre, 0.27, 0.26, degrees),
                                 Shape::ellipse(at(0.02, 0.12), 0.2, 0.17, degrees)},
                                0.06);
  const auto tusk = arc(at(0.16, -0.16), degrees - 45.0, 55.0, 0.28, 4);
  animal.accent("head", limb(tusk, {0.045, 0.04, 0.03, 0.008}));
  animal.eye(skull, at(0.14, 0.08), 0.034);
  animal.point("head", at(0.06, 0.0), skull);
  ear(animal, at(-0.03, 0.03), degrees);
}

void tail(AnimalBuilder& animal, Point root) {
  const auto curve =
      arc(root, animal.random.uniform(200.0, 250.0), animal.random.uniform(-60.0, 50.0), 0.36, 5);
  animal.body("tail", limb(curve, {0.032, 0.026, 0.022, 0.02, 0.018}));
  const Point tuft = curve[4] + (curve[4] - curve[3]) * 0.6;
  const int layer = animal.accent("tail", {Shape::cone(curve[4], tuft, 0.03, 0.055)});
  animal.point("tail", tuft, layer);
}

}  // namespace

void pose_elephant(AnimalBuilder& animal) {
  auto& random = animal.random;
  const double half = random.uniform(0.2, 0.28);
  const LegShape shape{0.24, 0.24, 0.16, 0.125, 0.115, 0.025};
  const auto front = draw_stride(random, 22.0);
  const auto back = draw_stride(random, 22.0);
  const Point shoulder{half + 0.03, 0.16};
  const Point hip{-half - 0.03, 0.16};
  animal.front_leg(shape, {shoulder, front.far, random.uniform(-5.0, 20.0), true});
  animal.back_leg(shape, {hip, back.far, random.uniform(-5.0, 20.0), true});
  tail(animal, {-half - 0.34, -0.08});
  animal.body(
      "torso",
      {Shape::ellipse({-half, -0.02}, 0.38, 0.36), Shape::ellipse({half, -0.02}, 0.36, 0.36)}, 0.2);
  animal.point("torso", {0.0, 0.0});
  animal.back_leg(shape, {hip, back.near, random.uniform(-5.0, 20.0), false});
  animal.front_leg(shape, {shoulder, front.near, random.uniform(-5.0, 20.0), false});
  const auto pose = draw_head_pose(random);
  head(animal, Point{half + 0.2, -0.1} + heading(pose.neck * 0.8, 0.24), pose.head * 0.6);
}

}  // namespace partwise::datasets::synthetic
