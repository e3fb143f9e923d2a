#pragma once

#include "partwise/parts/options.h"
#include "partwise/tensors/tensor.h"

namespace partwise::parts {

// What the filter gradient is computed from; nothing here carries a gradient.
struct FilterBatch {
  Tensor maps;       // [batch, filter, n*n], after ReLU, float32 or float64
  Tensor peaks;      // [batch, filter] int64
  Tensor positive;   // [batch, filter] bool: the image is of the filter's category
  Tensor templates;  // [n*n, n*n]
  Tensor scale;      // [filter]: running E[max x] on positives, > 0
};

struct FilterGradient {
  Tensor gradient;  // [batch, filter, n*n]: dLoss_f/dx up to a common factor; descent subtracts it
  Tensor effective_samples;  // scalar: (sum |w|)^2 / sum w^2 over the positives, as a share of them
};

// The label-supervised rule (paper, Eqn (grad) with the sign put right, with the weights of the
// authors' release made scale-free). With x^ = x / scale, u = mean(x^ * U_mu-hat) / a:
//   positives  dx = - omega+ w scale U_mu-hat,   w ~ e^u (u - log Z + 1)
//   negatives  dx = + omega- w scale,            the same with u = mean(x^ * U^-) / a = -mean(x^) /
//   a
// log Z: log-mean-exp over the same images of the fit to another image's and filter's template. The
// factor (u - log Z + 1) is cut off at 0: below it the rule would reward a misfit, and loud
// negatives would grow (decision 0002). w is normalised to mean 1 over the filter's positives
// (negatives), in the log domain, and cut off at 10; where all are 0, w = 1. omega+ = 0.5 / rho,
// omega- = 0.5 / (1 - rho), rho the share of positives in the batch; a filter without positives
// (negatives) gets no such push. The factor `scale` is the paper's E[max x] in lambda: it makes the
// step relative to a filter's own activations.
FilterGradient filter_gradient(const FilterBatch& batch, const PartOptions& options);

}  // namespace partwise::parts
