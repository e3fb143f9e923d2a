#pragma once

#include "partwise/parts/part_option_fields.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"

namespace partwise::parts {

// What the filter gradient is computed from; nothing here carries a gradient.
struct FilterBatch {
  Tensor maps;           // [batch, filter, n*n], after ReLU; half types are widened to float32
  Tensor peaks;          // [batch, filter] int64
  Tensor positive;       // [batch, filter] bool: the image is of the filter's category
  Tensor templates;      // [n*n, n*n] or [filter, n*n, n*n]
  Tensor scale;          // [filter]: running E[max x] on positives, > 0
  Tensor log_partition;  // rule paper: running log E_x exp(tr x T_mu), [filter, n*n + 1], mu^- last
  // Several ranks: the maps are this rank's share of a batch of so many images.
  tensors::Ranks ranks = {};
  int64_t images = maps.size(0);
};

struct FilterGradient {
  Tensor gradient;           // [batch, filter, n*n]: dLoss_f/dx^; descent subtracts it
  Tensor effective_samples;  // scalar: (sum |w|)^2 / sum w^2 over the positives, as a share of them
};

// x^, which the exponents see: x / scale (scale-free) or x (raw), float32 or float64.
//   maps [batch, filter, n*n]; scale [filter]
Tensor exponent_maps(const Tensor& maps, const Tensor& scale, Exponent exponent);

// dLoss_f/dx^ by options.rule, x^ as exponent_maps gives it. With u = mean(x^ * U) / a, which is the paper's tr(x T) at tau = 1 / (a n^2):
//
// paper    Eqn (grad) with the minus its printed form lacks; the template is the peak's on
//          positives, T^- elsewhere; log Z + log p(x) = log-mean-exp over the maps of all images:
//            w = e^v v,  v = u - log_partition;   gradient = - p(mu) tau / batch  w U
// release  the weights of the authors' release:
//            w ~ e^u (u - log Z + 1), of mean 1 over the filter's positives (negatives), at most 10
//            gradient = - w U / batch on positives, + w / batch on negatives (U = U^- = -1)
//          log Z: log-mean-exp over the same images of the fit to another image's and filter's
//          template. Where the mean of w all but vanishes, w = 1.
// exact    the true gradient of -MI over this batch, label-free (filter_loss.h)
//
// misfits: below u = log Z (paper), log Z - 1 (release) the weight is negative and would push a map
// away from its template; `ignored` cuts it off at 0 (decision 0002). balance (paper, release):
// `category` multiplies positives by 0.5 / rho and negatives by 0.5 / (1 - rho), rho the share of
// positives in the batch. A filter without positives (negatives) gets no such push. All exponents
// are taken in the log domain: finite at every activation scale. `batch`, and every mean, sum and
// count over images, is of the whole batch, on however many ranks.
FilterGradient filter_gradient(const FilterBatch& batch, const PartOptions& options);

// log mean_k exp(tr x^_k T_mu) over the batch, [filter, n*n + 1], mu^- last: what log_partition
// remembers.
Tensor log_mean_fits(const FilterBatch& batch, const PartOptions& options);

}  // namespace partwise::parts
