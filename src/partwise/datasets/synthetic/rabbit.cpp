#include "partwise/datasets/synthetic/animal.h"

namespace partwise::datasets::synthetic {
namespace {

void ear(AnimalBuilder& animal, Point root, double degrees, bool far) {
  const double fold = animal.random.chance(0.3) ? animal.random.uniform(30.0, 80.0)
                                                : animal.random.uniform(-8.0, 14.0);
  const Point middle = root + heading(degrees, 0.24);
  const Point tip = middle + heading(degrees + fold, 0.24);
  const int layer = animal.body(
      "ears", {Shape::cone(root, middle, 0.05, 0.085), Shape::cone(middle, tip, 0.085, 0.035)}, 0.0,
      far);
  animal.mark(layer,
              {Shape::cone(root + heading(degrees, 0.05), middle, 0.018, 0.045),
               Shape::cone(middle, tip, 0.045, 0.008)},
              animal.palette().accent.base, far ? 0.5 : 0.8);
  if (!far) animal.point("ear-tip", tip, layer);
}

void head(AnimalBuilder& animal, Point centre, double degrees) {
  animal.begin_head();
  auto& random = animal.random;
  const auto at = tilted_frame(centre, degrees);
  const double back = random.uniform(70.0, 150.0);
  ear(animal, at(0.0, 0.13), degrees + back - random.uniform(12.0, 35.0), true);
  const int skull = animal.body("head",
                                {Shape::ellipse(centre, 0.2, 0.17, degrees),
                                 Shape::ellipse(at(0.13, -0.05), 0.12, 0.11, degrees)},
                                0.05);
  animal.nose(skull, at(0.235, -0.01), 0.03);
  animal.mark(skull, {Shape::cone(at(0.225, -0.05), at(0.15, -0.1), 0.009, 0.007)},
              animal.palette().dark, 0.7);
  animal.eye(skull, at(0.08, 0.05), 0.036);
  animal.point("head", centre, skull);
  animal.point("nose", at(0.225, -0.015), skull);
  ear(animal, at(-0.07, 0.12), degrees + back, false);
  animal.turn_head(centre.x);
}

void hind_leg(AnimalBuilder& animal, Point hip, double stretch, bool far) {
  const Point heel = hip + heading(-90.0 - stretch * 0.6, 0.27);
  const Point toe = heel + heading(-2.0 - stretch * 0.5, 0.32);
  animal.body("back-legs",
              {Shape::ellipse(hip, 0.2, 0.17, 60.0), Shape::cone(hip, heel, 0.12, 0.065)}, 0.05,
              far);
  const int foot = animal.accent("back-legs", {Shape::cone(heel, toe, 0.065, 0.05)}, 0.0, far);
  animal.point("back-foot", toe, foot);
}

}  // namespace

void pose_rabbit(AnimalBuilder& animal) {
  auto& random = animal.random;
  const double reach = random.uniform(0.18, 0.3);  // crouched or stretched in a hop
  const double stretch = random.uniform(-10.0, 45.0);
  const LegShape shape{0.16, 0.17, 0.075, 0.055, 0.045, 0.07};
  const auto stride = draw_stride(random, 35.0);
  const double lean = random.uniform(-5.0, 30.0);
  const double raise = random.uniform(-0.12, 0.05);
  const Point chest{reach, 0.03 + raise};
  hind_leg(animal, {-reach + 0.06, 0.08}, stretch + random.uniform(-10.0, 10.0), true);
  animal.front_leg(shape, {chest + Point{0.06, 0.1}, stride.far + lean, 10.0, true});
  const Point tail{-reach - 0.31, -0.02 + random.uniform(-0.08, 0.06)};
  const int puff = animal.accent(
      "tail",
      {Shape::ellipse(tail, 0.11, 0.11), Shape::ellipse(tail + Point{-0.05, -0.06}, 0.07, 0.07),
       Shape::ellipse(tail + Point{-0.06, 0.05}, 0.07, 0.07)},
      0.02);
  animal.point("tail", tail + Point{-0.05, 0.0}, puff);
  animal.body("torso",
              {Shape::ellipse({-reach, -0.02}, 0.33, 0.3), Shape::ellipse(chest, 0.22, 0.2),
               Shape::cone({-reach, -0.06}, chest, 0.24, 0.2)},
              0.1);
  animal.point("torso", {0.0, 0.0});
  animal.front_leg(shape, {chest + Point{0.02, 0.11}, stride.near + lean, 10.0, false});
  hind_leg(animal, {-reach + 0.02, 0.09}, stretch, false);
  const auto pose = draw_head_pose(random);
  head(animal, chest + heading(pose.neck, 0.29), pose.head * 0.8);
}

}  // namespace partwise::datasets::synthetic
