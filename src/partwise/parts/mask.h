#pragma once

#include "partwise/parts/part_option_fields.h"
#include "partwise/tensors/tensor.h"

namespace partwise::parts {

// The part location mu-hat of every map, as cell index i * n + j: [batch, filter] int64.
//   argmax (paper): the strongest cell, the first of equals (of half types, which have many: that
//     with the most activation in the nine cells around it); a silent map's is cell 0
//   centroid (release): the cell nearest to the activation's centre of mass; a silent map's is the
//     centre
// maps [batch, filter, n, n], >= 0
Tensor peak_cells(const Tensor& maps, const PartOptions& options);

// max(U_mu-hat, 0), shaped like the maps: x^masked = x * mask (paper, "the mask layer", without
// tau: taken literally, tau would shrink every activation n^2/0.5-fold). Carries no gradient.
//   peaks [batch, filter] int64; templates of the maps' type
Tensor masks_at(const Tensor& peaks, const Tensor& templates);

}  // namespace partwise::parts
