#pragma once

#include "partwise/base/random.h"
#include "partwise/metrics/activations.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <vector>

namespace partwise::metrics {

// One category: its rows, and how much of each part they show.
struct Gallery {
  std::vector<int64_t> rows;
  std::vector<std::vector<int64_t>> areas;  // [part][place in rows], pixels
  std::vector<std::vector<int64_t>> shown;  // [part]: the rows that show it
};

// IoU of a filter's region with every part of every row of a category, [part][place in the
// category's rows]; NaN where the part is not shown, 0 where the region is empty.
using Overlaps = std::vector<std::vector<double>>;

struct FilterOverlap {
  float threshold = 0.0F;   // T_f
  int64_t silent_rows = 0;  // rows of the category without a unit above T_f
  Overlaps own;
  Overlaps shuffled;  // the same regions laid over the parts of one other row each
};

// How the regions of filters overlap parts. T_f: over all positions of all maps of a category, the
// upper_quantile of max(x, 0), NaN taken for 0. S_f = union of discs (radius a share of the input
// side) at the centres of the units with x > T_f. Maps and truth must outlive it.
class PartOverlap {
 public:
  PartOverlap(
      const Maps& maps, const UnitGrid& grid, const Truth& truth, double quantile, double radius);

  [[nodiscard]] const std::vector<Gallery>& galleries() const { return galleries_; }

  // `random` draws the derangement behind `shuffled`. May be called from several threads.
  [[nodiscard]] FilterOverlap of_filter(int64_t filter, int64_t category, Random random) const;

  // One disc at the input's centre, (input_side - 1) / 2, in every row.
  [[nodiscard]] Overlaps of_centre(int64_t category) const;

 private:
  [[nodiscard]] float threshold(int64_t filter, int64_t category) const;
  bool draw_region(std::span<const float> map, float threshold, PixelSet& region) const;
  [[nodiscard]] double overlap(const Gallery& gallery,
                               std::size_t part,
                               std::size_t place,
                               const PixelSet& region,
                               int64_t region_area) const;

  Maps maps_;
  const Truth& truth_;
  double quantile_;
  double radius_;
  std::vector<PixelSet> discs_;  // [cell]
  std::vector<Gallery> galleries_;
};

}  // namespace partwise::metrics
