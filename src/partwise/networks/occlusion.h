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

// A network's answers to one image with a patch of it covered, patch by patch. A patch is covered
// with 0, the mean of normalised pixels. Up to the first layer that looks at whole maps (a mask, or
// the fully connected layers) only the cells that a patch can reach are computed again; the answers
// are those of the whole network but for rounding: sums of products are taken in another order.
//   image [3, side, side], normalised

// [patches, outputs]
Tensor occluded_logits(const Network& network,
                       const Tensor& image,
                       std::span<const Corner> corners,
                       int64_t size);

// [patches, filters]: a tapped layer's activations before the mask, at the cell where the map of
// the uncovered image has its peak. Nothing behind the layer is computed, and of its own
// convolution those cells alone.
Tensor occluded_peaks(const Network& network,
                      std::size_t tap,
                      const Tensor& image,
                      std::span<const Corner> corners,
                      int64_t size);

}  // namespace partwise::networks
