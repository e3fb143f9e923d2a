#pragma once

#include "partwise/base/geometry.h"
#include "partwise/models/examples.h"
#include "partwise/networks/network.h"
#include "partwise/tensors/tensor.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::evidence {

// From which pixels the peaks of a layer's maps come: energy (d peak / d pixel)^2, summed over the
// colours. A unit's centre is not where its evidence lies: the field it sees is wider than any
// part, and training may let it look beside itself.
class PeakGradients {
 public:
  // Looks at the images once, as far as the layer.  images [rows, 3, side, side], normalised; tap:
  // index into Architecture::taps; the network must outlive it.
  PeakGradients(const networks::Network& network, const Tensor& images, std::size_t tap);

  // The rest of the network runs when it is first asked for.
  const networks::Output& output() const;
  // [rows, filters, n, n], before the mask
  const Tensor& maps() const { return maps_; }
  // [rows, filters]: each map's largest value before the mask, and its cell.
  const Tensor& peaks() const { return peaks_; }
  const Tensor& cells() const { return cells_; }

  // [rows, side, side] on the CPU: the energy of sum_f weights[row, f] x_f(mu). Rows without a peak
  // that fires give zeros. One pass back through the network, whatever the weights.
  Tensor energy(const Tensor& weights) const;
  // The same of one filter per row; -1: none, zeros.
  Tensor energy_of(std::span<const int64_t> filter_of_row) const;

 private:
  void run_layer(std::size_t layer) const;
  Tensor energy_from(const Tensor& value, const Tensor& slope) const;

  const networks::Network& network_;
  Tensor images_;
  std::size_t relu_;                     // the layer whose maps they are
  mutable std::vector<Tensor> results_;  // of the layers, as far as they have run
  mutable std::optional<networks::Output> output_;
  Tensor maps_;
  Tensor peaks_;
  Tensor cells_;
};

// A filter of a layer, and the row of examples it is looked at on.
struct FilterOnRow {
  int64_t filter = 0;
  int64_t row = 0;
};

// Any number of them, in any order: the energy [side, side] of each one's peak and its map [n, n]
// before the mask, on the CPU. A row is looked at once, whatever the number of its filters.
using VisitEnergy = std::function<void(std::size_t pair, const Tensor& energy, const Tensor& map)>;
void for_each_energy(const networks::Network& network,
                     std::size_t tap,
                     const models::Examples& examples,
                     std::span<const FilterOnRow> pairs,
                     const std::string& device,
                     const VisitEnergy& visit);

// What is outlined of an energy: the pixels that hold kOutlinedShare of evidence_map, its smoothed
// square root. (Spread and share were chosen by the overlap with parts on the demo's animals of
// seed 1; see decision 0016.)
inline constexpr double kOutlinedShare = 0.6;
std::vector<float> evidence_map(const Tensor& energy);

// The centres of mass of energies [rows, side, side], in pixels of the input (0-based); nothing for
// zeros.
std::vector<std::optional<Point>> centroids(const Tensor& energies);
// Of one [side, side].
std::optional<Point> centroid(const Tensor& energy);

}  // namespace partwise::evidence
