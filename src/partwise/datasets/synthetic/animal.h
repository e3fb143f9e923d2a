#pragma once

#include "partwise/base/random.h"
#include "partwise/datasets/synthetic/canvas.h"

#include <string>
#include <string_view>
#include <vector>

namespace partwise::datasets::synthetic {

constexpr int kAnyLayer = -1;

struct BodyLayer {
  Layer layer;
  std::string part;
  int mark_on = kAnyLayer;  // a mark on that layer's surface instead of a surface of its own
};

struct BodyPoint {
  std::string name;
  std::string part;  // it goes with it
  Point at;
  int layer = kAnyLayer;  // it is visible where this layer (or any) is
};

// An animal in side view, facing +x, about one unit long; layers from back to front.
struct Animal {
  std::vector<BodyLayer> layers;
  std::vector<BodyPoint> points;
};

struct LegShape {
  double upper = 0.25;  // lengths
  double lower = 0.25;
  double thigh = 0.09;  // radii
  double knee = 0.06;
  double ankle = 0.045;
  double foot = 0.07;  // the foot's length ahead of the ankle
};

struct LegPose {
  Point hip;
  double swing = 0.0;  // degrees the thigh points ahead of straight down
  double bend = 0.0;   // degrees the shin falls back from the thigh
  bool far = false;
};

// Collects an animal from the back to the front.
class AnimalBuilder {
 public:
  AnimalBuilder(const Palette& palette, Random& dice) : random(dice), palette_(palette) {}

  // Each gives the number of its layer.
  int body(std::string_view part, std::vector<Shape> shapes, double merge = 0.0, bool far = false);
  int accent(std::string_view part,
             std::vector<Shape> shapes,
             double merge = 0.0,
             bool far = false);
  int mark(int on, std::vector<Shape> shapes, Colour colour, double opacity = 1.0);

  // A landmark of a layer, or of the part added last, whatever lies over it.
  void point(std::string_view name, Point at, int layer = kAnyLayer);
  void front_leg(const LegShape& shape, const LegPose& pose) { leg("front", shape, pose); }
  void back_leg(const LegShape& shape, const LegPose& pose) { leg("back", shape, pose); }
  void eye(int on, Point at, double radius);  // and its landmark
  void nose(int on, Point at, double radius);

  // A head turns about the vertical line x = pivot, mostly ahead, now and then back over the
  // shoulder: widths along the body of all that was added since begin_head() shrink, limbs keep
  // their thickness.
  void begin_head();
  void turn_head(double pivot);

  [[nodiscard]] const Palette& palette() const { return palette_; }
  Animal take() { return std::move(animal_); }

  Random& random;

 private:
  void leg(const std::string& side, const LegShape& shape, const LegPose& pose);
  int add(std::string_view part, std::vector<Shape> shapes, double merge, Paint paint, bool far);

  Palette palette_;
  Animal animal_;
  std::size_t head_layers_ = 0;  // where the head begins
  std::size_t head_points_ = 0;
};

// How the head is held: from grazing to alert. Degrees above the horizontal.
struct HeadPose {
  double neck = 0.0;
  double head = 0.0;
};
HeadPose draw_head_pose(Random& random);

// Swings of a pair of legs in a random phase of a stride.
struct Stride {
  double near = 0.0;
  double far = 0.0;
};
Stride draw_stride(Random& random, double reach);

// The kinds of animals, one file each.
void pose_fox(AnimalBuilder& animal);
void pose_deer(AnimalBuilder& animal);
void pose_elephant(AnimalBuilder& animal);
void pose_bird(AnimalBuilder& animal);
void pose_rabbit(AnimalBuilder& animal);
void pose_turtle(AnimalBuilder& animal);

}  // namespace partwise::datasets::synthetic
