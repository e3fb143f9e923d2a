#include "partwise/datasets/synthetic/animal.h"

namespace partwise::datasets::synthetic {
namespace {

void flipper(AnimalBuilder& animal,
             std::string_view part,
             std::string_view foot,
             Point hip,
             double swing,
             bool far) {
  const Point ankle = hip + heading(-90.0 + swing, 0.24);
  const Point toe = ankle + heading(-60.0 + swing, 0.09);
  const int layer = animal.body(
      part, {Shape::cone(hip, ankle, 0.12, 0.095), Shape::cone(ankle, toe, 0.095, 0.075)}, 0.03,
      far);
  for (const double spread : {-50.0, -10.0, 30.0}) {
    const Point claw = toe + heading(-60.0 + swing + spread, 0.065);
    animal.mark(layer,
                {Shape::cone(claw, claw + heading(-60.0 + swing + spread, 0.04), 0.018, 0.01)},
                animal.palette().accent.base);
  }
  animal.point(foot, ankle, layer);
}

void shell(AnimalBuilder& animal, double half, double height) {
  const int dome = animal.body("shell",
                               {Shape::dome({0.0, 0.13}, half, height),
                                Shape::cone({-half + 0.06, 0.09}, {half - 0.06, 0.09}, 0.04, 0.04)},
                               0.03);
  const Colour line = animal.palette().dark;
  for (const double side : {-1.0, 1.0}) {
    for (const double share : {0.18, 0.58}) {
      const Point low{side * half * share * 1.15, 0.1};
      const Point high{side * half * share * 0.75, 0.13 - height * 0.62};
      animal.mark(dome, {Shape::cone(low, high, 0.012, 0.012)}, line, 0.5);
      animal.mark(
          dome, {Shape::cone(high, high + Point{-side * half * 0.17, -height * 0.3}, 0.012, 0.012)},
          line, 0.5);
    }
  }
  const double ridge = 0.13 - height * 0.62;
  animal.mark(dome,
              {Shape::cone({-half * 0.72, ridge + 0.08}, {-half * 0.14, ridge}, 0.012, 0.012),
               Shape::cone({-half * 0.14, ridge}, {half * 0.14, ridge}, 0.012, 0.012),
               Shape::cone({half * 0.14, ridge}, {half * 0.72, ridge + 0.08}, 0.012, 0.012)},
              line, 0.5);
  animal.accent("shell", {Shape::cone({-half + 0.03, 0.14}, {half - 0.03, 0.14}, 0.06, 0.06)});
  animal.point("torso", {0.0, 0.0});
}

void head(AnimalBuilder& animal, Point centre, double degrees) {
  animal.begin_head();
  const auto at = tilted_frame(centre, degrees);
  const int skull = animal.body("head",
                                {Shape::ellipse(centre, 0.165, 0.135, degrees),
                                 Shape::ellipse(at(0.1, -0.02), 0.1, 0.09, degrees)},
                                0.05);
  animal.mark(skull, {Shape::cone(at(0.2, -0.045), at(0.06, -0.06), 0.011, 0.009)},
              animal.palette().dark, 0.7);
  animal.nose(skull, at(0.185, 0.02), 0.014);
  animal.eye(skull, at(0.07, 0.045), 0.034);
  animal.point("head", centre, skull);
  animal.point("nose", at(0.18, 0.0), skull);
  animal.turn_head(centre.x);
}

}  // namespace

void pose_turtle(AnimalBuilder& animal) {
  auto& random = animal.random;
  const double half = random.uniform(0.46, 0.58);
  const double height = random.uniform(0.4, 0.52);
  const auto front = draw_stride(random, 38.0);
  const auto back = draw_stride(random, 38.0);
  flipper(animal, "front-legs", "front-foot", {half - 0.14, 0.14}, front.far + 5.0, true);
  flipper(animal, "back-legs", "back-foot", {-half + 0.18, 0.14}, back.far - 15.0, true);
  const auto curve =
      arc({-half + 0.04, 0.13}, random.uniform(165.0, 215.0), random.uniform(-60.0, 60.0), 0.24, 4);
  const int tail = animal.body("tail", limb(curve, {0.07, 0.055, 0.035, 0.01}));
  animal.point("tail", curve[2], tail);
  const double lift = random.uniform(-35.0, 75.0);
  const auto neck = arc({half - 0.1, 0.06}, lift * 0.5, lift * 0.8, random.uniform(0.2, 0.45), 4);
  animal.body("neck", limb(neck, {0.105, 0.095, 0.09, 0.085}));
  flipper(animal, "front-legs", "front-foot", {half - 0.2, 0.15}, front.near + 5.0, false);
  flipper(animal, "back-legs", "back-foot", {-half + 0.22, 0.15}, back.near - 15.0, false);
  shell(animal, half, height);
  head(animal, neck.back() + heading(lift * 0.5, 0.08), lift * 0.3 + random.uniform(-20.0, 20.0));
}

}  // namespace partwise::datasets::synthetic
