#pragma once

#include "partwise/parts/part_option_fields.h"
#include "partwise/tensors/tensor.h"

#include <algorithm>
#include <cstdint>

namespace partwise::parts {

// |[i,j] - mu| for all cells of an n x n map, [n*n, n*n], float64; row mu. L1, or L2 for the round
// template.
Tensor cell_distances(int64_t side, TemplateShape shape);

// Unit templates of those distances:
//   U_mu(ij) = max(1 - beta |[i,j] - mu| / n, -1)
// (paper, "Part templates"; there T_mu = tau U_mu). beta: a number for all filters -> [n*n, n*n],
// or [filter] -> [filter, n*n, n*n]. The negative template is T^- = -tau everywhere: U^- = -1 needs
// no table. Where a set of templates is asked for below, it is either of the two.
Tensor unit_templates(const Tensor& distances, const Tensor& beta);
Tensor unit_templates(int64_t side, const PartOptions& options);  // with options.beta, float64

// Templates that are not written out: U_mu = max(1 - slope |cell - mu|, -1).
struct Cones {
  Tensor distances;  // as cell_distances gives them
  Tensor slopes;     // [filter]: beta / n
};

// beta of the release's slope b, which it writes on linspace(-1, 1, n). A map of one cell has no
// other distance than 0.
inline double beta_from_slope(double slope, int64_t side) {
  return 2.0 * slope * static_cast<double>(side) /
         static_cast<double>(std::max<int64_t>(side - 1, 1));
}

// U_mu-hat of every map.  peaks [batch, filter] int64 -> [batch, filter, n*n]
Tensor templates_at(const Tensor& peaks, const Tensor& templates);

// sum_ij x_ij U_mu(ij) for every mu.  maps [batch, filter, n*n] -> the same shape, over mu
Tensor template_fits(const Tensor& maps, const Tensor& templates);

// sum_mu w_mu U_mu.  weights [batch, filter, n*n], over mu -> the same shape, over cells
Tensor template_mixture(const Tensor& weights, const Tensor& templates);

}  // namespace partwise::parts
