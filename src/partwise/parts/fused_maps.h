#pragma once

#include "partwise/parts/filter_loss.h"
#include "partwise/parts/templates.h"

#include <functional>

// The kernels (kernels/map_kernels.h) on tensors. They serve maps on the CPU in float32 or float64.
// On a GPU gpu_layer.h does the work; for other types, and under ComposedOperators, the layer
// composes LibTorch's own operators.
// maps [batch, filter, n, n] or [batch, filter, n*n], >= 0; results [batch, filter] unless noted.
namespace partwise::parts {

// While one lives, this thread composes operators: the reference the kernels are held to.
class ComposedOperators {
 public:
  ComposedOperators();
  ~ComposedOperators();
  ComposedOperators(const ComposedOperators&) = delete;
  ComposedOperators& operator=(const ComposedOperators&) = delete;

 private:
  bool before_;
};

bool composes_operators();  // whether one lives

// While one lives, this thread takes a core's second cache to have so many bytes, whatever it has.
class SecondCache {
 public:
  explicit SecondCache(int64_t bytes);
  ~SecondCache();
  SecondCache(const SecondCache&) = delete;
  SecondCache& operator=(const SecondCache&) = delete;

 private:
  int64_t before_;
};

bool can_fuse(const Tensor& maps);

struct Looks {
  Tensor peaks;      // int64: mu-hat, as mask.h's peak_cells has it
  Tensor strongest;  // int64: the strongest cell
  Tensor tops;       // max x
  Tensor masses;     // sum x
  Tensor squares;    // sum x^2; composed: undefined
};
// By the kernels where they can, composed otherwise. values: the maps in the type of the
// statistics.
Looks look_at(const Tensor& maps, const Tensor& values, const PartOptions& options);

// From here on only where can_fuse.

Tensor sums_at(const Tensor& maps, const Tensor& peaks, const Tensor& table);  // sum x table[mu, .]
Tensor fits_at(const Tensor& maps, const Tensor& peaks, const Cones& cones);   // sum x U_mu
Tensor dots_of(const Tensor& maps, const Tensor& others);                      // sum x y

struct Masked {
  Tensor maps;  // as masked_at gives them
  Tensor fits;  // sum x U_mu
  // The same with the peak of another image and another filter, both counted from the far end.
  Tensor foreign_fits;
};
Masked mask_and_fit(const Tensor& maps, const Tensor& peaks, const Cones& cones, double share);

struct Seen {
  Looks looks;
  Masked masked;
};
// Both while the maps are near.
Seen look_and_mask(const Tensor& maps,
                   const Cones& cones,
                   double share,
                   const PartOptions& options);

// x (1 - share + share max(U_mu, 0)), shaped like the maps
Tensor masked_at(const Tensor& maps, const Tensor& peaks, const Cones& cones, double share);

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

// kernels::Push, all [batch, filter] but scaling and factor, [filter]
struct MapPush {
  Tensor constant;
  Tensor pull;
  Tensor scaling;
  Tensor strongest;
  Tensor raise;  // or undefined
  Tensor lift;   // or undefined
  Tensor factor;
  Tensor dense;  // shaped like the maps, in place of constant and pull; or undefined
};

struct Squares {
  Tensor task;  // sum t^2, t the gradient behind the mask
  Tensor push;  // sum p^2, p the filter gradient without its factor
};
Squares squares_at(const Tensor& maps,
                   const Tensor& gradient,
                   const Tensor& peaks,
                   const Cones& cones,
                   double share,
                   const MapPush& push);

// sum max(U_mu, 0)^2 over mu and the active cells of the maps that are wanted, otherwise 0
Tensor lift_squares_at(const Tensor& maps,
                       const Tensor& strongest,
                       const Cones& cones,
                       const Tensor& wanted);

struct Pushed {
  Tensor gradient;  // shaped like the maps
  Tensor closed;    // what of it lies at a strongest cell that is not active
};
Pushed push_at(const Tensor& maps,
               const Tensor& gradient,
               const Tensor& peaks,
               const Cones& cones,
               double share,
               const MapPush& push);
void lift_at(const Tensor& maps, const Cones& cones, const MapPush& push, Pushed& pushed);

// How many filters' maps and gradients stay in the second cache; 0: too few to be worth it, or a
// cache of less than 2 MiB (0018-an-interpretable-layer-in-few-passes.md).
int64_t filters_in_cache(const Tensor& maps);

// Squares and push at once, so many filters at a time, of a batch that is nobody else's.
//   push.factor: written; factor_of: of a filter by the norms of t and p over the batch
//   norms: float64 [2, filter], those; written
Pushed push_by_filter(const Tensor& maps,
                      const Tensor& gradient,
                      const Tensor& peaks,
                      const Cones& cones,
                      double share,
                      const MapPush& push,
                      const std::function<double(double task, double push)>& factor_of,
                      Tensor& norms);

}  // namespace partwise::parts
