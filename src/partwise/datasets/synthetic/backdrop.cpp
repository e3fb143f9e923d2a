#include "partwise/datasets/synthetic/backdrop.h"

#include <algorithm>

namespace partwise::datasets::synthetic {
namespace {

// Things that stand about in a scene, in units of the image side, as layers from back to front.
struct Thing {
  Point at;           // where it stands or hangs
  double size = 0.2;  // about its height
  Colour colour;
};

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

// A patterned lump coloured like an animal that is none.
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

Colour draw_scenery_colour(Random& random, double low_value, double high_value) {
  return colour_from_hsv(random.uniform(), random.uniform(0.08, 0.42),
                         random.uniform(low_value, high_value));
}

// Where the ground begins in each column, as a share of the height.
std::vector<double> skyline(const Backdrop& backdrop, int64_t side) {
  std::vector<double> heights;
  for (int64_t x = 0; x < side; ++x) {
    const double u = (static_cast<double>(x) + 0.5) / static_cast<double>(side);
    const double rolling = 0.08 * (smooth_noise({u * 3.0, 0.5}, backdrop.seed) - 0.5);
    heights.push_back(backdrop.horizon + rolling);
  }
  return heights;
}

Colour sky_at(const Backdrop& backdrop, Point at, double edge) {
  const Colour sky = mix(backdrop.sky_top, backdrop.sky_low, std::clamp(at.y / edge, 0.0, 1.0));
  return sky * (0.94 + 0.12 * smooth_noise({at.x * 3.0, at.y * 6.0}, backdrop.seed + 2));
}

Colour ground_at(const Backdrop& backdrop, Point at, double edge) {
  const double nearness = std::clamp((at.y - edge) / std::max(1.0 - edge, 0.1), 0.0, 1.0);
  const Colour ground = mix(backdrop.ground_far, backdrop.ground_near, nearness);
  return ground * (0.94 + 0.12 * smooth_noise({at.x * 22.0, at.y * 30.0}, backdrop.seed + 1));
}

void paint_gradients(Canvas& canvas, const Backdrop& backdrop) {
  const auto side = static_cast<double>(canvas.side);
  const auto edges = skyline(backdrop, canvas.side);
  for (int64_t y = 0; y < canvas.side; ++y) {
    for (int64_t x = 0; x < canvas.side; ++x) {
      const Point at{(static_cast<double>(x) + 0.5) / side, (static_cast<double>(y) + 0.5) / side};
      const double edge = edges[static_cast<std::size_t>(x)];
      const double ground = std::clamp((at.y - edge) * side + 0.5, 0.0, 1.0);
      auto& colour = canvas.colours[canvas.index(x, y)];
      if (ground < 1.0) colour = sky_at(backdrop, at, edge);
      if (ground > 0.0) colour = mix(colour, ground_at(backdrop, at, edge), ground);
    }
  }
}

using Draw = std::vector<Layer> (*)(const Thing&, Random&);

}  // namespace

Backdrop draw_backdrop(Random& random) {
  Backdrop backdrop;
  backdrop.horizon = random.uniform(0.2, 0.7);
  backdrop.sky_low = draw_scenery_colour(random, 0.6, 0.98);
  backdrop.sky_top =
      mix(backdrop.sky_low, draw_scenery_colour(random, 0.4, 0.95), random.uniform());
  backdrop.ground_far = draw_scenery_colour(random, 0.4, 0.85);
  backdrop.ground_near = mix(backdrop.ground_far, draw_scenery_colour(random, 0.3, 0.8), 0.6);
  backdrop.plants =
      colour_from_hsv(random.uniform(), random.uniform(0.2, 0.6), random.uniform(0.35, 0.8));
  const double from = random.uniform(25.0, 155.0);
  backdrop.light.direction = heading(from, random.uniform(0.5, 0.85));
  backdrop.light.ambient = random.uniform(0.45, 0.7);
  const double bright = random.uniform(0.82, 1.08);
  backdrop.light.tint =
      mix(Colour{bright, bright, bright}, draw_scenery_colour(random, 0.9, 1.0), 0.15);
  backdrop.seed = static_cast<uint32_t>(random.bits());
  return backdrop;
}

void paint_things(Canvas& canvas, const std::vector<Layer>& layers, const Light& light) {
  const View view{static_cast<double>(canvas.side), 0.0, false, {}};
  for (const auto& layer : layers) paint_layer(canvas, layer, view, light, kNothing);
}

void paint_backdrop(Canvas& canvas, const Backdrop& backdrop, Random& random) {
  paint_gradients(canvas, backdrop);
  constexpr Draw kDraw[] = {tree, bush, rock, grass, branch, flower, lump, lump};
  const auto count = 4 + random.below(7);
  for (int64_t i = 0; i < count; ++i) {
    const Draw draw = kDraw[random.below(std::size(kDraw))];
    Thing thing;
    const double depth = static_cast<double>(i + 1) / static_cast<double>(count);
    thing.at = {random.uniform(-0.05, 1.05),
                draw == branch || draw == lump
                    ? random.uniform(0.0, 1.0)
                    : std::lerp(backdrop.horizon, 1.05, depth * random.uniform(0.5, 1.0))};
    thing.size = random.uniform(0.14, 0.34) * (draw == tree ? 1.8 : 1.0);
    const Colour near = mix(backdrop.plants, draw_animal_colour(random), 0.3);
    thing.colour = mix(backdrop.sky_low, near, 0.55 + 0.45 * depth);
    paint_things(canvas, draw(thing, random), backdrop.light);
  }
}

std::vector<Layer> draw_foreground(const Backdrop& backdrop, Random& random) {
  constexpr Draw kDraw[] = {grass, grass, bush, rock, branch, branch, flower, lump};
  std::vector<Layer> layers;
  if (random.chance(0.25)) return layers;
  const auto count = 1 + random.below(3);
  for (int64_t i = 0; i < count; ++i) {
    const Draw draw = kDraw[random.below(std::size(kDraw))];
    Thing thing;
    const bool hangs = draw == branch || draw == lump;
    thing.at = {random.uniform(0.05, 0.95),
                hangs ? random.uniform(0.05, 0.95) : random.uniform(0.75, 1.05)};
    thing.size = random.uniform(0.14, 0.26);
    thing.colour = mix(backdrop.plants, draw_animal_colour(random), 0.3);
    for (auto& layer : draw(thing, random)) layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace partwise::datasets::synthetic
