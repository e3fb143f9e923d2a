#pragma once

#include "partwise/parts/diagnostics.h"
#include "partwise/parts/filter_gradient.h"

namespace partwise::parts {

// What an interpretable layer adds to the task gradient that arrives at its maps in the backward
// pass (see Interpretable::mask_and_learn):
//   the filter gradient  strength * dLoss_f/dx in units of options.strength_unit, softened by the
//                        guard, where a cell is active
//   the vote             options.vote * dL/dx (vote.h), at the peak
//   the lift             options.keep_alive * need * max(|g_f|, median over the filters of |g_f|),
//                        along keep_alive.h's shape; g_f is the filter's task gradient
// The last two need several categories. They can also raise a cell that the ReLU below has closed,
// if `before_relu` is known: the vote the strongest cell of a map that is silent altogether, the
// lift that cell of any map.
struct Push {
  Tensor maps;                      // [batch, filter, n, n], requiring a gradient
  std::vector<Tensor> before_relu;  // what the ReLU was given, filters in this order; or none
  Tensor labels;                    // [batch] int64: of this rank's images
};

// values: the maps detached, of the memory's type, from which `batch` was made
void push_filters(const Push& push,
                  const Tensor& values,
                  const FilterBatch& batch,
                  const Memory& memory,
                  const PartOptions& options,
                  double strength,
                  Diagnostics& diagnostics);

// To the nearest bfloat16 above or below at random, so that the mean is the number itself: what is
// added to a gradient is then not lost where it is smaller than the gradient's last digit. Other
// types are converted as usual.
Tensor rounded_at_random(const Tensor& values, at::ScalarType type);

}  // namespace partwise::parts
