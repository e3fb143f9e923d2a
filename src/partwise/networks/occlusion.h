#pragma once

#include "partwise/networks/network.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::networks {

// The first pixel of a square patch.
struct Corner {
  int64_t x = 0;
  int64_t y = 0;
};

// The corners of patches of `size` pixels, `step` apart, the last ones flush with the far edges.
std::vector<Corner> patch_corners(int64_t side, int64_t size, int64_t step);

// A network's answers to one image with a patch of it covered, patch by patch.
struct Occluded {
  Tensor logits;  // [patches, outputs]
  std::vector<Tensor>
      at_peaks;  // [tap]: [patches, filters], before the mask, at the cell where the
                 // map of the uncovered image has its peak
};

// Covers each patch with 0, the mean of normalised pixels. Up to the first layer that looks at whole
// maps (a mask, or the fully connected layers) only the cells that a patch can reach are computed
// again; the answers are those of the whole network but for rounding.
//   image [3, side, side], normalised
Occluded evaluate_occluded(const Network& network,
                           const Tensor& image,
                           std::span<const Corner> corners,
                           int64_t size);

}  // namespace partwise::networks
