#pragma once

#include "partwise/parts/templates.h"

// The kernels (kernels/map_kernels.h) on tensors. They serve maps on the CPU in float32 or float64.
// On a GPU gpu_layer.h does the work; for other types, and under ComposedOperators, the layer
// composes LibTorch's own operators.
// fused_fits.h has the fits to all templates, fused_gradient.h the way back.
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

}  // namespace partwise::parts
