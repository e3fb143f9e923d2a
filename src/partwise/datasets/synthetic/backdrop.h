#pragma once

#include "partwise/base/random.h"
#include "partwise/datasets/synthetic/canvas.h"

#include <vector>

namespace partwise::datasets::synthetic {

// The place a scene plays in. Nothing here depends on whether, or which, animal will stand in it.
struct Backdrop {
  Light light;
  double horizon = 0.6;  // share of the height
  Colour sky_top;
  Colour sky_low;
  Colour ground_far;
  Colour ground_near;
  Colour plants;
  uint32_t seed = 0;
};

Backdrop draw_backdrop(Random& random);

// Covers the whole canvas: sky, ground, then what stands about.
void paint_backdrop(Canvas& canvas, const Backdrop& backdrop, Random& random);

// Things in front of everything, in units of the image side; often none.
std::vector<Layer> draw_foreground(const Backdrop& backdrop, Random& random);
void paint_things(Canvas& canvas, const std::vector<Layer>& things, const Light& light);

}  // namespace partwise::datasets::synthetic
