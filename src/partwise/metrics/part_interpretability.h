#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/maps.h"
#include "partwise/metrics/part_overlap.h"
#include "partwise/metrics/statistics.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

struct FilterInterpretability {
  int64_t category = -1;
  double threshold = kNaN;         // T_f
  int64_t best_part = -1;          // index into the category's parts; -1 if it has none
  double interpretability = kNaN;  // P_f = max_k P_{f,k}
  double empty_share = kNaN;       // rows of the category without a unit above T_f
  std::vector<double> by_part;     // P_{f,k}; NaN where no row shows the part
};

struct PartInterpretability {
  Finding finding;  // controls: shuffled_images (maps paired with the parts of other rows of the
                    // category), constant_centre (one disc at the input's centre, per category,
                    // averaged like filters)
  double empty_share = 0.0;
  std::vector<FilterInterpretability> filters;
};

// Part interpretability (paper, "Evaluation metric: part interpretability"), P_f in place of the
// paper's hand-checked IoU. Over all N positions of all maps of the filter's category, T_f is the
// exact quantile: with m = floor(quantile * N), the (m + 1)-th largest value, so that the units
// with x > T_f are m, or, where ties forbid m, the largest possible number below it; 0 if that
// value is below 0, so that every x > 0 counts where the quantile is 0. S_f = union of discs at
// the unit centres with x > T_f. P_{f,k} = share of the rows that show part k
// whose IoU(S_f, part k) > iou; P_f = max_k; mean over filters. A row without a unit above T_f
// counts as 0. `maps` are those after ReLU and mask. `filter_category` as in location_instability;
// -1: the category with the highest P_f is taken, which flatters the filter. P_f is NaN for a
// filter whose category shows no part; such filters are left out of the mean.
//
// With regions.shapes S_f is the union of the filter's shape at those centres, its image-resolution
// receptive field as in the paper, and constant_centre is that shape at the input's centre, the
// best part for each filter. With regions.places S_f is a single disc of the same radius at the
// place given for the filter and row, in the rows with a unit above the same T_f.
//
// The interval (a centred bootstrap interval) keeps T_f and the category from the full sample;
// P_{f,k} and the maximum over k are recomputed in every resample. shuffled_images pairs every map
// with the parts of one other row, by a derangement drawn for each filter, and takes the maximum
// over k as well.
PartInterpretability part_interpretability(const MapSource& maps,
                                           const UnitGrid& grid,
                                           const Truth& truth,
                                           std::span<const int64_t> filter_category,
                                           const InterpretabilityOptions& options,
                                           const BootstrapOptions& bootstrap,
                                           const Regions& regions = {});

}  // namespace partwise::metrics
