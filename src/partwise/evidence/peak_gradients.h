#pragma once

#include "partwise/base/geometry.h"
#include "partwise/networks/network.h"
#include "partwise/tensors/tensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace partwise::evidence {

// From which pixels the peaks of a layer's maps come: energy (d peak / d pixel)^2, summed over the
// colours. A unit's centre is not where its evidence lies: the field it sees is wider than any part,
// and training may let it look beside itself.
class PeakGradients {
 public:
  // Looks at the images once.  images [rows, 3, side, side], normalised; tap: index into
  // Architecture::taps
  PeakGradients(const networks::Network& network, const Tensor& images, std::size_t tap);

  const networks::Output& output() const { return output_; }
  // [rows, filters]: each map's largest value before the mask, and its cell.
  const Tensor& peaks() const { return peaks_; }
  const Tensor& cells() const { return cells_; }

  // [rows, side, side] on the CPU: the energy of sum_f weights[row, f] x_f(mu). Rows without a peak
  // that fires give zeros. One pass back through the network, whatever the weights.
  Tensor energy(const Tensor& weights) const;
  // The same of one filter per row, or of one filter in all rows.
  Tensor energy_of(std::span<const int64_t> filter_of_row) const;

 private:
  Tensor images_;
  networks::Output output_;
  Tensor peaks_;
  Tensor cells_;
};

// What is outlined of an energy: the pixels that hold kOutlinedShare of evidence_map, its smoothed
// square root. (Spread and share were chosen by the overlap with parts on the demo's animals of seed
// 1; see decision 0016.)
inline constexpr double kOutlinedShare = 0.6;
std::vector<float> evidence_map(const Tensor& energy);

// The centre of mass of an energy [side, side], in pixels of the input (0-based); nothing for zeros.
std::optional<Point> centroid(const Tensor& energy);

}  // namespace partwise::evidence
