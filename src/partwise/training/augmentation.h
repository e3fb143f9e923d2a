#pragma once

#include "partwise/tensors/tensor.h"
#include "partwise/training/train_options.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::training {

// Fills target with what training shows in place of crops, a function of the seed and of a crop's
// place in the batch: flipped left to right or not, shifted by up to options.jitter pixels, scaled
// about its centre by 1 -+ options.zoom (edges repeated), its saturation, contrast and brightness
// changed by 1 -+ options.colour each. Works on so many threads of its own (0: all cores) and none
// of LibTorch's.
//   pixels [crops, 3, side, side] uint8; rows [count] int64: the crops of the batch from its place
//   `first` on; target [count, 3, side, side] uint8; all contiguous, on the CPU
void augment(const Tensor& pixels,
             const Tensor& rows,
             const TrainOptions& options,
             uint64_t seed,
             int64_t first,
             int threads,
             const Tensor& target);

// The rows an epoch shows, shuffled; a function of the seed. Every row once; where options ask for
// another number of positives (or negatives), each as often as that number allows and a random
// choice of them once more.
//   category [rows]: -1 for a negative
std::vector<int64_t> epoch_order(std::span<const int64_t> category,
                                 const TrainOptions& options,
                                 uint64_t seed);

}  // namespace partwise::training
