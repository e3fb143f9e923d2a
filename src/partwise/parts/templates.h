#pragma once

#include "partwise/parts/options.h"
#include "partwise/tensors/tensor.h"

namespace partwise::parts {

// All positive unit templates of an n x n map, [n*n, n*n], float64: row mu holds
//   U_mu(ij) = max(1 - beta |[i,j] - mu| / n, -1)
// (paper, "Part templates"; there T_mu = tau U_mu). |.| is L1, or L2 for the round template. The
// negative template is T^- = -tau everywhere: U^- = -1 needs no table.
Tensor unit_templates(int64_t side, const PartOptions& options);

}  // namespace partwise::parts
