#pragma once

#include "partwise/tensors/tensor.h"
#include "partwise/training/options.h"

namespace partwise::training {

// What training shows in place of a crop, a function of the seed and of its place in the batch:
// flipped left to right or not, shifted by up to options.jitter pixels, scaled about its centre by
// 1 -+ options.zoom (edges repeated), its saturation, contrast and brightness changed by 1 -+
// options.colour each.
//   pixels [rows, 3, side, side] uint8, on the CPU: the rows of the batch from `first` on
Tensor augmented(const Tensor& pixels,
                 const TrainOptions& options,
                 uint64_t seed,
                 int64_t first = 0);

}  // namespace partwise::training
