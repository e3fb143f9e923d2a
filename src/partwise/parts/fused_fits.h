#pragma once

#include "partwise/parts/filter_loss.h"
#include "partwise/parts/templates.h"

// The fits of maps to all templates, and what the paper's rules and the filter loss sum up of them,
// by kernels/fit_kernels.h. Only where can_fuse (fused_maps.h has the shapes).
namespace partwise::parts {

// The fits of all maps to all templates as kernels/fit_kernels.h lays them out, and of those:
//   log sum over the images of e^(fit * inverse), [filter, n*n + 1], mu^- last
//   log sum over mu of e^min(fit * inverse - log_partition, most)
// inverse [filter]; log_partition [filter, n*n + 1]
Tensor all_fits(const Tensor& maps, const Cones& cones, TemplateShape shape);
Tensor log_sums_of(const Tensor& maps, const Tensor& fits, const Tensor& inverse);
Tensor log_marginals_of(const Tensor& maps,
                        const Tensor& fits,
                        const Tensor& inverse,
                        const Tensor& log_partition,
                        double most);

// In place of the fits: the weight of every template in the gradient of a map, and their mixture,
// shaped like the maps (kernels/fit_kernels.h); log_marginals, gains: or undefined; factor [filter]
Tensor gain_sums_of(const Tensor& maps,
                    const Tensor& fits,
                    const Tensor& inverse,
                    const Tensor& log_partition,
                    const Tensor& log_marginals);
void weigh_templates(const Tensor& maps,
                     const Tensor& fits,
                     const Tensor& inverse,
                     const Tensor& log_partition,
                     double most,
                     const Tensor& log_marginals,
                     const Tensor& gains,
                     bool ignore_misfits);
Tensor mixture_of(const Tensor& maps,
                  const Tensor& weights,
                  const Cones& cones,
                  TemplateShape shape,
                  const Tensor& factor);

// All of this at once for a batch that is nobody else's, a few filters at a time.
struct RunningFits {  // kernels::RunningFits
  Tensor log_sum;     // or undefined
  double memory = 0.0;
  double seen = 0.0;
};
struct TemplateRule {
  Tensor inverse;  // [filter]
  RunningFits running;
  double most = 0.0;
  bool wants_marginals = false;
  bool wants_gains = false;
  bool ignore_misfits = false;
  Tensor factor;  // [filter]; or undefined: no mixture
};
struct TemplateSums {
  Tensor log_partition;  // [filter, n*n + 1]
  Tensor log_marginals;  // log N p(x); or undefined
  Tensor mixture;        // shaped like the maps; or undefined
};
TemplateSums sum_templates(const Tensor& maps,
                           const Cones& cones,
                           TemplateShape shape,
                           const TemplateRule& rule);

// The filter loss of filter_loss.h over all ranks' images, in the maps' type, for the paper's
// prior.
//   inverse [filter]: tau, of the maps as they are
FilterLoss loss_by_kernels(const Tensor& maps,
                           const Cones& cones,
                           TemplateShape shape,
                           const Tensor& inverse,
                           const tensors::Ranks& ranks);

}  // namespace partwise::parts
