#include "partwise/datasets/synthetic/backdrop.h"

#include "partwise/datasets/synthetic/plants.h"

#include <algorithm>

namespace partwise::datasets::synthetic {
namespace {

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

void paint_things(Canvas& canvas, const std::vector<Layer>& layers, const Light& light) {
  const View view{static_cast<double>(canvas.side), 0.0, false, {}};
  for (const auto& layer : layers) paint_layer(canvas, layer, view, light, kNothing);
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
