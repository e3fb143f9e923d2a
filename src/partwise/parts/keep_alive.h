#pragma once

#include "partwise/tensors/tensor.h"

namespace partwise::parts {

// Where and how much a filter that falls silent is to be raised. With s_f = E[max x] on the
// filter's category and s the layer's median of it, its need is clip(1 - 2 s_f / s, 0, 1): none
// above half of the median.
struct Lift {
  Tensor need;   // [filter]
  Tensor shape;  // [batch, filter, n*n]: - max(U_mu, 0) on the images of its category, at the cells
                 // that are active and at mu; descent subtracts it
};

Tensor lift_need(const Tensor& mean_peak, const Tensor& loudness);

//   maps [batch, filter, n*n], after ReLU; cells, positive [batch, filter]: mu, and whether the
//   image is of the filter's category; templates as unit_templates gives them
Lift lift(const Tensor& maps,
          const Tensor& cells,
          const Tensor& positive,
          const Tensor& templates,
          const Tensor& mean_peak,
          const Tensor& loudness);

}  // namespace partwise::parts
