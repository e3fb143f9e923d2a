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
  Tensor scale;          // [filter]: Memory::scale, > 0
  Tensor log_partition;  // rules paper and paper_all: running log E_x exp(tr x T_mu),
                         // [filter, n*n + 1], mu^- last
  Tensor share = {};     // balance dataset: rho of each filter's category, [filter]
  // Several ranks: the maps are this rank's share of a batch of so many images.
  tensors::Ranks ranks = {};
  int64_t images = maps.size(0);
};

struct FilterGradient {
  Tensor gradient;           // [batch, filter, n*n]: dLoss_f/dx; descent subtracts it
  Tensor effective_samples;  // scalar: (sum |w|)^2 / sum w^2 over the positives, as a share of them
};

// x^, which the exponents see: x / scale (scale-free) or x (raw), float32 or float64.
//   maps [batch, filter, n*n]; scale [filter]
Tensor exponent_maps(const Tensor& maps, const Tensor& scale, Exponent exponent);

// dLoss_f/dx by options.rule; the formulas below are for x^ as exponent_maps gives it, and the
// result is divided by dx/dx^. With u = mean(x^ * U) / a, the paper's tr(x T) at tau = 1 / (a n^2):
//
// paper      Eqn (grad), second line, with the minus its printed form lacks; the template is the
//            peak's on positives, T^- elsewhere:
//              w = e^v (v - log N p(x)),  v = u - log_partition;   gradient = - p(mu) tau / batch w U
//            marginal `definition`: N p(x) = sum_mu p(mu) e^v_mu; `uniform`: 1, the paper's last
//            approximation
// paper_all  Eqn (grad), first line: the sum of the same over all templates, Z kept constant;
//            label-free
// release    the weights of the authors' release:
//              w ~ e^u (u - log Z + 1), of mean 1 over the filter's positives (negatives)
//              gradient = - w U / batch on positives, + w / batch on negatives (U = U^- = -1)
//            log Z: log-mean-exp over all images of the fit to another image's and filter's
//            template (negatives: to U^-). weight_limit cuts w off there, and takes w = 1 where the
//            mean of w all but vanishes; without it such a filter gets what the release gives it.
// exact      the true gradient of -MI over this batch, label-free (filter_loss.h)
//
// misfits: where the bracket is negative the weight would push a map away from its template;
// `ignored` cuts it off at 0 (decision 0002). balance (paper, release): positives times 0.5 / rho,
// negatives times 0.5 / (1 - rho); `category`: rho is the share of positives in the batch,
// `dataset`: batch.share, and no factor in a binary task (as the release has it). A filter without
// positives (negatives) gets no such push. All exponents are taken in the log domain: finite at
// every activation scale. `batch`, and every mean, sum and count over images, is of the whole
// batch, on however many ranks.
FilterGradient filter_gradient(const FilterBatch& batch, const PartOptions& options);

// log mean_k exp(tr x^_k T_mu) over the batch, [filter, n*n + 1], mu^- last: what log_partition
// remembers.
Tensor log_mean_fits(const FilterBatch& batch, const PartOptions& options);

}  // namespace partwise::parts
