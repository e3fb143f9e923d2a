#include "partwise/datasets/synthetic/paint.h"

#include "partwise/datasets/synthetic/shapes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace partwise::datasets::synthetic {
namespace {

double lattice(int64_t x, int64_t y, uint32_t seed) {
  uint32_t h = static_cast<uint32_t>(x) * 0x8DA6B343U ^ static_cast<uint32_t>(y) * 0xD8163841U ^
               seed * 0xCB1AB31FU;
  h = (h ^ (h >> 15U)) * 0x2C1B3C6DU;
  h = (h ^ (h >> 12U)) * 0x297A2D39U;
  return static_cast<double>((h ^ (h >> 15U)) >> 8U) * 0x1.0p-24;
}

double smooth_step(double low, double high, double x) {
  const double t = std::clamp((x - low) / (high - low), 0.0, 1.0);
  return t * t * (3.0 - 2.0 * t);
}

// 1 inside dots that sit one per cell, a little off its centre.
double dots(Point point, uint32_t seed) {
  const auto cell_x = static_cast<int64_t>(std::floor(point.x));
  const auto cell_y = static_cast<int64_t>(std::floor(point.y));
  const double jitter_x = lattice(cell_x, cell_y, seed) * 0.4 + 0.3;
  const double jitter_y = lattice(cell_x, cell_y, seed + 1) * 0.4 + 0.3;
  const double radius = 0.22 + 0.16 * lattice(cell_x, cell_y, seed + 2);
  const Point off =
      point - Point{static_cast<double>(cell_x) + jitter_x, static_cast<double>(cell_y) + jitter_y};
  return 1.0 - smooth_step(radius - 0.08, radius + 0.08, std::sqrt(dot(off, off)));
}

double pattern_share(const Paint& paint, Point point) {
  const Point axis = heading(paint.angle, paint.frequency);
  const Point turned{dot(point, axis), axis.x * point.y - axis.y * point.x};
  switch (paint.pattern) {
    case Pattern::plain:
      return 0.0;
    case Pattern::stripes: {
      const double warp = 0.9 * smooth_noise(turned * 0.7, paint.seed);
      const double wave = std::sin(2.0 * std::numbers::pi * (turned.x * 0.75 + warp));
      return smooth_step(-0.1, 0.4, wave);
    }
    case Pattern::spots:
      return dots(turned, paint.seed);
    case Pattern::patches:
      return smooth_step(0.5, 0.58, smooth_noise(turned * 0.6, paint.seed));
    case Pattern::mottled:
      return smooth_noise(turned * 2.2, paint.seed) * 0.9;
  }
  return 0.0;
}

}  // namespace

Colour colour_from_hsv(double hue, double saturation, double value) {
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue * 6.0, 6.0);
    return value - value * saturation * std::clamp(std::min(k, 4.0 - k), 0.0, 1.0);
  };
  return {channel(5.0), channel(3.0), channel(1.0)};
}

double smooth_noise(Point point, uint32_t seed) {
  const double floor_x = std::floor(point.x);
  const double floor_y = std::floor(point.y);
  const auto x = static_cast<int64_t>(floor_x);
  const auto y = static_cast<int64_t>(floor_y);
  const double u = smooth_step(0.0, 1.0, point.x - floor_x);
  const double v = smooth_step(0.0, 1.0, point.y - floor_y);
  const double top = std::lerp(lattice(x, y, seed), lattice(x + 1, y, seed), u);
  const double bottom = std::lerp(lattice(x, y + 1, seed), lattice(x + 1, y + 1, seed), u);
  return std::lerp(top, bottom, v);
}

Colour surface_colour(const Paint& paint, Point point) {
  if (paint.pattern == Pattern::plain) return paint.base;
  return mix(paint.base, paint.mark, pattern_share(paint, point));
}

Colour draw_animal_colour(Random& random) {
  const double hue = random.uniform();
  return colour_from_hsv(hue, random.uniform(0.15, 0.7), random.uniform(0.45, 0.97));
}

Paint draw_pattern(Colour base, Colour mark, Random& random) {
  Paint paint;
  paint.base = base;
  paint.mark = mark;
  paint.pattern = static_cast<Pattern>(random.below(5));
  paint.frequency = random.uniform(4.0, 9.0);
  paint.angle = random.uniform(-40.0, 40.0);
  paint.seed = static_cast<uint32_t>(random.bits());
  paint.line = random.uniform(0.5, 0.8);
  return paint;
}

Palette draw_palette(Random& random) {
  Palette palette;
  const Colour base = draw_animal_colour(random);
  Colour accent = draw_animal_colour(random);
  const auto difference = [&] {
    return std::abs(base.r - accent.r) + std::abs(base.g - accent.g) + std::abs(base.b - accent.b);
  };
  while (difference() < 0.5) accent = draw_animal_colour(random);
  const Colour mark = mix(base, random.chance(0.5) ? accent : base * 0.5, random.uniform(0.4, 0.8));
  palette.body = draw_pattern(base, mark, random);
  palette.body.under = mix(base, {1.0, 0.97, 0.9}, 0.6);
  palette.body.under_share = random.chance(0.5) ? random.uniform(0.3, 0.9) : 0.0;
  palette.accent.base = accent;
  palette.accent.line = palette.body.line;
  palette.dark = colour_from_hsv(random.uniform(), 0.4, 0.12);
  return palette;
}

}  // namespace partwise::datasets::synthetic
