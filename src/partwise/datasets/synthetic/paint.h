#pragma once

#include "partwise/base/geometry.h"
#include "partwise/base/random.h"

namespace partwise::datasets::synthetic {

// Linear mixing of display values; 0..1 each.
struct Colour {
  double r = 0.0;
  double g = 0.0;
  double b = 0.0;
};

inline Colour mix(Colour a, Colour b, double share) {
  return {a.r + (b.r - a.r) * share, a.g + (b.g - a.g) * share, a.b + (b.b - a.b) * share};
}
inline Colour operator*(Colour a, double s) {
  return {a.r * s, a.g * s, a.b * s};
}

Colour colour_from_hsv(double hue, double saturation, double value);

enum class Pattern { plain, stripes, spots, patches, mottled };

// How a surface looks.
struct Paint {
  Colour base;
  Colour mark;   // the pattern's second colour
  Colour under;  // shows where the surface faces down
  Pattern pattern = Pattern::plain;
  double frequency = 8.0;  // pattern repeats a unit of length
  double angle = 0.0;      // degrees
  uint32_t seed = 0;
  double under_share = 0.0;
  double dim = 1.0;   // limbs on the far side are darker
  double line = 0.6;  // strength of the outline
  bool flat = false;  // neither shaded nor outlined: eyes, marks
  double opacity = 1.0;
};

// Surface colour at a point of the body, before light.
Colour surface_colour(const Paint& paint, Point point);

// Smooth noise in 0..1, one bump a unit.
double smooth_noise(Point point, uint32_t seed);

// The colours of one animal. Every species draws from this same distribution and uses every role,
// so that colour and texture say nothing about the species.
struct Palette {
  Paint body;
  Paint accent;  // horns, beaks, hooves, shells, tips
  Colour dark;   // eyes, noses
};
Palette draw_palette(Random& random);
Colour draw_animal_colour(Random& random);
Paint draw_pattern(Colour base, Colour mark, Random& random);

}  // namespace partwise::datasets::synthetic
