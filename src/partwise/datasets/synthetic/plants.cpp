#include "partwise/datasets/synthetic/plants.h"

#include <algorithm>

namespace partwise::datasets::synthetic {
namespace {

Paint plain(Colour colour, double line = 0.45) {
  Paint paint;
  paint.base = colour;
  paint.line = line;
  return paint;
}

Paint textured(Colour colour, Random& random) {
  Paint paint = draw_pattern(colour, colour * random.uniform(0.7, 0.9), random);
  paint.pattern = random.chance(0.5) ? Pattern::mottled : Pattern::plain;
  paint.frequency = random.uniform(8.0, 20.0);
  paint.line = 0.4;
  return paint;
}

Layer leaf(Point at, double degrees, double length, Colour colour) {
  return {
      {Shape::ellipse(at + heading(degrees, length * 0.5), length * 0.5, length * 0.2, degrees)},
      0.0,
      plain(colour)};
}

Colour nearby(Colour colour, Random& random) {
  return mix(colour * random.uniform(0.75, 1.15), draw_animal_colour(random), 0.12);
}

}  // namespace

std::vector<Layer> tree(const Thing& thing, Random& random) {
  const double h = thing.size;
  const Point top = thing.at + heading(90.0 + random.uniform(-8.0, 8.0), h * 0.65);
  std::vector<Layer> layers;
  const Colour bark = mix(thing.colour * 0.55, {0.35, 0.25, 0.2}, 0.5);
  layers.push_back({{Shape::cone(thing.at, top, h * 0.07, h * 0.04)}, 0.0, textured(bark, random)});
  std::vector<Shape> crown;
  const auto lobes = 4 + random.below(4);
  for (int64_t i = 0; i < lobes; ++i) {
    const Point off{random.uniform(-0.3, 0.3) * h, random.uniform(-0.3, 0.18) * h};
    const double r = random.uniform(0.14, 0.24) * h;
    crown.push_back(Shape::ellipse(top + off, r, r));
  }
  layers.push_back({std::move(crown), h * 0.06, textured(thing.colour, random)});
  return layers;
}

std::vector<Layer> bush(const Thing& thing, Random& random) {
  std::vector<Shape> lobes;
  const auto count = 3 + random.below(4);
  for (int64_t i = 0; i < count; ++i) {
    const Point off{random.uniform(-0.6, 0.6) * thing.size,
                    random.uniform(-0.45, 0.0) * thing.size};
    const double r = random.uniform(0.25, 0.45) * thing.size;
    lobes.push_back(Shape::ellipse(thing.at + off, r, r * 0.9));
  }
  return {{std::move(lobes), thing.size * 0.1, textured(thing.colour, random)}};
}

std::vector<Layer> rock(const Thing& thing, Random& random) {
  const double w = thing.size * random.uniform(0.5, 0.8);
  std::vector<Shape> shapes{
      Shape::dome(thing.at, w, thing.size * 0.6, random.uniform(-12.0, 12.0)),
      Shape::dome(thing.at + Point{random.uniform(-0.6, 0.6) * w, 0.0}, w * 0.6, thing.size * 0.4)};
  const Colour grey = mix(thing.colour, {0.55, 0.55, 0.56}, 0.55);
  return {{std::move(shapes), thing.size * 0.05, textured(grey, random)}};
}

std::vector<Layer> grass(const Thing& thing, Random& random) {
  std::vector<Layer> layers;
  const auto blades = 4 + random.below(5);
  for (int64_t i = 0; i < blades; ++i) {
    const Point root = thing.at + Point{random.uniform(-0.45, 0.45) * thing.size, 0.0};
    const double degrees = 90.0 + random.uniform(-25.0, 25.0);
    const auto curve =
        arc(root, degrees, random.uniform(-50.0, 50.0), thing.size * random.uniform(0.6, 1.1), 4);
    const double r = std::max(0.011, thing.size * 0.045);
    const std::vector<double> radii{r, r * 0.9, r * 0.65, 0.002};
    layers.push_back({limb(curve, radii), 0.0, plain(nearby(thing.colour, random), 0.35)});
  }
  return layers;
}

std::vector<Layer> branch(const Thing& thing, Random& random) {
  const double degrees = random.uniform(-30.0, 30.0) + (random.chance(0.5) ? 180.0 : 0.0);
  const auto curve = arc(thing.at, degrees, random.uniform(-40.0, 40.0), thing.size * 2.4, 5);
  const double r = thing.size * 0.07;
  const std::vector<double> radii{r, r * 0.9, r * 0.75, r * 0.6, r * 0.35};
  std::vector<Layer> layers;
  const Colour bark = mix(thing.colour * 0.55, {0.35, 0.25, 0.2}, 0.5);
  layers.push_back({limb(curve, radii), 0.0, plain(bark)});
  for (std::size_t i = 1; i < curve.size(); ++i) {
    for (const double side : {-1.0, 1.0}) {
      if (random.chance(0.25)) continue;
      layers.push_back(leaf(curve[i], degrees + side * random.uniform(30.0, 75.0),
                            thing.size * random.uniform(0.35, 0.55), nearby(thing.colour, random)));
    }
  }
  return layers;
}

std::vector<Layer> flower(const Thing& thing, Random& random) {
  const auto stem = arc(thing.at, 90.0, random.uniform(-30.0, 30.0), thing.size, 3);
  const std::vector<double> radii{thing.size * 0.04, thing.size * 0.04, thing.size * 0.03};
  std::vector<Layer> layers{{limb(stem, radii), 0.0, plain(thing.colour * 0.8)}};
  std::vector<Shape> petals;
  const double turn = random.uniform(0.0, 72.0);
  for (int i = 0; i < 5; ++i) {
    const Point middle = stem.back() + heading(turn + 72.0 * i, thing.size * 0.14);
    petals.push_back(Shape::ellipse(middle, thing.size * 0.13, thing.size * 0.08, turn + 72.0 * i));
  }
  layers.push_back({std::move(petals), 0.0, plain(draw_animal_colour(random))});
  layers.push_back({{Shape::ellipse(stem.back(), thing.size * 0.08, thing.size * 0.08)},
                    0.0,
                    plain(draw_animal_colour(random))});
  return layers;
}

std::vector<Layer> lump(const Thing& thing, Random& random) {
  std::vector<Shape> shapes;
  const auto count = 1 + random.below(3);
  Point at = thing.at;
  for (int64_t i = 0; i < count; ++i) {
    shapes.push_back(Shape::ellipse(at, thing.size * random.uniform(0.25, 0.5),
                                    thing.size * random.uniform(0.15, 0.4),
                                    random.uniform(0.0, 180.0)));
    const Point next = at + heading(random.uniform(0.0, 360.0), thing.size * 0.5);
    shapes.push_back(Shape::cone(at, next, thing.size * random.uniform(0.05, 0.2),
                                 thing.size * random.uniform(0.03, 0.15)));
    at = next;
  }
  auto palette = draw_palette(random);
  palette.body.frequency /= std::max(thing.size, 0.05) * 2.0;
  return {{std::move(shapes), thing.size * 0.08, palette.body}};
}

}  // namespace partwise::datasets::synthetic
