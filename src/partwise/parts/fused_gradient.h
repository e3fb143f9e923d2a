#pragma once

#include "partwise/parts/templates.h"

#include <functional>

// The way back through maps by kernels/map_kernels.h: the mask's gradient, what it is pushed by,
// and what lifts silent maps. Only where can_fuse (fused_maps.h has the shapes).
namespace partwise::parts {

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
