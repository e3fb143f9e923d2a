#pragma once

#include "partwise/training/train_options.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::training {

// The rows an epoch shows, shuffled; a function of the seed. Every row once; where options ask for
// another number of positives (or negatives), each as often as that number allows and a random
// choice of them once more.
//   category [rows]: -1 for a negative
std::vector<int64_t> epoch_order(std::span<const int64_t> category,
                                 const TrainOptions& options,
                                 uint64_t seed);

}  // namespace partwise::training
