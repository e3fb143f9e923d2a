#pragma once

#include "partwise/networks/network.h"
#include "partwise/networks/occlusion.h"
#include "partwise/tensors/tensor.h"

#include <cstdint>
#include <span>

namespace partwise::explaining {

// What other people's methods say of pixels: signed maps [rows, side, side], float32 on the CPU.

// Grad-CAM (Selvaraju et al. 2017) of maps A whose gradient is that of a score:
// max(0, sum_f mean_cells(d score / d A_f) A_f).  [rows, filters, n, n] -> [rows, n, n]
Tensor grad_cam(const Tensor& maps, const Tensor& gradient);

// Those that need one pass back through the network per output that is asked about.
class GradientMaps {
 public:
  // Looks at the images once.  images [rows, 3, side, side], normalised
  GradientMaps(const networks::Network& network, const Tensor& images);

  const networks::Output& output() const { return output_; }

  struct Maps {
    // At the last tap, behind its mask where it has one; enlarged between the centres of the units.
    Tensor grad_cam;
    // sum over colours of x d logit / d x, x the normalised image.
    Tensor input_times_gradient;
  };
  // output_of_row [rows]: whose logit
  Maps of(std::span<const int64_t> output_of_row) const;

 private:
  const networks::Network& network_;
  Tensor images_;
  networks::Output output_;
};

struct OcclusionOptions {
  double patch = 1.0 / 7.0;  // side of the covered square / side of the input
  double step = 1.0 / 14.0;
};

// By how much covering a pixel lowers each logit: the mean over the squares that cover it,
// [outputs, side, side].  image [3, side, side], normalised
Tensor occlusion_maps(const networks::Network& network,
                      const Tensor& image,
                      const OcclusionOptions& options = {});

// That mean.  drops [patches, outputs]
Tensor spread_over_patches(const Tensor& drops,
                           std::span<const networks::Corner> corners,
                           int64_t size,
                           int64_t side);

}  // namespace partwise::explaining
