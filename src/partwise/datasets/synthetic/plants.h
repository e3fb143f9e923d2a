#pragma once

#include "partwise/base/random.h"
#include "partwise/datasets/synthetic/canvas.h"

#include <vector>

namespace partwise::datasets::synthetic {

// Things that stand about in a scene, in units of the image side, as layers from back to front.
struct Thing {
  Point at;           // where it stands or hangs
  double size = 0.2;  // about its height
  Colour colour;
};

std::vector<Layer> tree(const Thing& thing, Random& random);
std::vector<Layer> bush(const Thing& thing, Random& random);
std::vector<Layer> rock(const Thing& thing, Random& random);
std::vector<Layer> grass(const Thing& thing, Random& random);
std::vector<Layer> branch(const Thing& thing, Random& random);
std::vector<Layer> flower(const Thing& thing, Random& random);
// A patterned lump coloured like an animal that is none.
std::vector<Layer> lump(const Thing& thing, Random& random);

}  // namespace partwise::datasets::synthetic
