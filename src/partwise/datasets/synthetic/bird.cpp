#include "partwise/datasets/synthetic/animal.h"

#include <algorithm>

namespace partwise::datasets::synthetic {
namespace {

struct WingPose {
  double degrees = 0.0;  // of the leading feather
  double fan = 0.0;      // degrees between first and last feather
  double length = 0.0;
};

WingPose draw_wing_pose(Random& random) {
  const double kind = random.uniform();
  if (kind < 0.4) return {random.uniform(60.0, 110.0), random.uniform(60.0, 90.0), 0.72};  // raised
  if (kind < 0.6) return {random.uniform(230.0, 260.0), -random.uniform(60.0, 80.0), 0.62};
  return {random.uniform(168.0, 180.0), random.uniform(22.0, 38.0), 0.5};  // folded
}

void wing(AnimalBuilder& animal, Point root, const WingPose& pose, bool far) {
  constexpr int kFeathers = 6;
  std::vector<Shape> feathers;
  for (int i = 0; i < kFeathers; ++i) {
    const double share = static_cast<double>(i) / (kFeathers - 1);
    const double length = pose.length * (1.0 - 0.42 * share);
    const Point tip = root + heading(pose.degrees + pose.fan * share, length);
    feathers.push_back(Shape::cone(root + (tip - root) * 0.25, tip, 0.085, 0.05));
  }
  const int layer = animal.body("wings", std::move(feathers), 0.0, far);
  for (int i = 1; i < kFeathers; ++i) {
    const double share = (static_cast<double>(i) - 0.5) / (kFeathers - 1);
    const Point tip =
        root + heading(pose.degrees + pose.fan * share, pose.length * (0.95 - 0.4 * share));
    animal.mark(layer, {Shape::cone(root + (tip - root) * 0.45, tip, 0.008, 0.012)},
                animal.palette().dark, 0.5);
  }
  animal.accent("wings",
                {Shape::cone(root, root + heading(pose.degrees + pose.fan * 0.4, 0.17), 0.1, 0.07)},
                0.0, far);
  if (!far) animal.point("wing-tip", root + heading(pose.degrees, pose.length), layer);
}

void tail(AnimalBuilder& animal, Point root, double degrees) {
  const double spread = animal.random.uniform(10.0, 24.0);
  std::vector<Shape> feathers;
  for (const double side : {-1.0, 0.0, 1.0}) {
    feathers.push_back(
        Shape::cone(root, root + heading(degrees + side * spread, 0.4), 0.06, 0.055));
  }
  const int layer = animal.body("tail", std::move(feathers));
  for (const double side : {-1.0, 0.0, 1.0}) {
    animal.mark(layer, {Shape::ellipse(root + heading(degrees + side * spread, 0.42), 0.06, 0.06)},
                animal.palette().accent.base, 0.8);
  }
  animal.point("tail", root + heading(degrees, 0.38), layer);
}

void foot(AnimalBuilder& animal, Point hip, double swing, double bend, bool far) {
  const Point knee = hip + heading(-90.0 + swing, 0.17);
  const Point ankle = knee + heading(-90.0 + swing - bend, 0.18);
  const double r = 0.028;
  std::vector<Shape> shapes{Shape::cone(hip, knee, 0.05, r), Shape::cone(knee, ankle, r, r)};
  for (const double toe : {-35.0, -5.0, 200.0}) {
    shapes.push_back(Shape::cone(ankle, ankle + heading(toe, toe > 90.0 ? 0.1 : 0.15), r, 0.018));
  }
  const int layer = animal.accent("legs", std::move(shapes), 0.0, far);
  animal.point("foot", ankle, layer);
}

void head(AnimalBuilder& animal, Point centre, double degrees) {
  animal.begin_head();
  const auto at = tilted_frame(centre, degrees);
  const double open = animal.random.uniform(0.0, 16.0);
  const Point root = at(0.12, -0.01);
  animal.accent("beak",
                {Shape::cone(root, root + heading(degrees - 4.0 - open, 0.24), 0.055, 0.006)});
  const int beak = animal.accent(
      "beak", {Shape::cone(root, root + heading(degrees + open * 0.5, 0.3), 0.08, 0.006)});
  animal.point("beak-tip", root + heading(degrees + open * 0.5, 0.22), beak);
  const int skull = animal.body("head", {Shape::ellipse(centre, 0.19, 0.18, degrees)});
  animal.eye(skull, at(0.06, 0.05), 0.036);
  animal.point("head", centre, skull);
  animal.turn_head(centre.x);
}

}  // namespace

void pose_bird(AnimalBuilder& animal) {
  auto& random = animal.random;
  const double tilt = random.uniform(-5.0, 50.0);  // from level to upright
  const Point chest = heading(tilt, 0.2);
  const Point rump = heading(tilt + 180.0, 0.24);
  const auto pose = draw_wing_pose(random);
  const Point shoulder = heading(tilt, 0.1) + Point{0.0, -0.05};
  const WingPose turned{pose.degrees + tilt * 0.6, pose.fan, pose.length};
  if (pose.length > 0.55) {
    const WingPose behind{turned.degrees - 18.0, turned.fan, turned.length * 0.92};
    wing(animal, shoulder + Point{0.1, -0.05}, behind, true);
  }
  const auto stride = draw_stride(random, 32.0);
  const double bend = random.uniform(-5.0, 40.0);
  foot(animal, {0.06, 0.2}, stride.far, bend, true);
  tail(animal, rump + heading(tilt + 180.0, 0.06), tilt + 180.0 + random.uniform(-30.0, 30.0));
  foot(animal, {-0.02, 0.22}, stride.near, bend, false);
  const int torso = animal.body("torso",
                                {Shape::ellipse({0.0, 0.0}, 0.36, 0.27, tilt),
                                 Shape::cone(chest, chest + heading(tilt + 45.0, 0.2), 0.2, 0.15),
                                 Shape::cone(rump, rump + heading(tilt + 180.0, 0.1), 0.12, 0.06)},
                                0.1);
  animal.mark(torso, {Shape::ellipse(chest + Point{0.06, 0.08}, 0.17, 0.2, tilt)},
              animal.palette().accent.base, 0.7);
  animal.point("torso", {0.0, 0.0});
  head(animal, chest + heading(tilt + random.uniform(25.0, 65.0), 0.3),
       random.uniform(-35.0, 30.0));
  wing(animal, shoulder, turned, false);
}

}  // namespace partwise::datasets::synthetic
