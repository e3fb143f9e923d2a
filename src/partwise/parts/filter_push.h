#pragma once

#include "partwise/parts/diagnostics.h"
#include "partwise/parts/filter_gradient.h"

namespace partwise::parts {

// Adds strength * dLoss_f/dx of this batch, in units of options.strength_unit, to the task gradient
// when it arrives at `maps` in the backward pass (see Interpretable::mask_and_learn).
//   maps [batch, filter, n, n], requiring a gradient; values: the same, detached, of the memory's
//   type, from which `batch` was made
void push_filters(const Tensor& maps,
                  const Tensor& values,
                  const FilterBatch& batch,
                  const Memory& memory,
                  const PartOptions& options,
                  double strength,
                  Diagnostics& diagnostics);

}  // namespace partwise::parts
