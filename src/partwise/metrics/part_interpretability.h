#pragma once

#include "partwise/metrics/activations.h"
#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

struct InterpretabilityOptions {
  double quantile = 0.005;  // P(x > T_f)
  double iou = 0.2;         // a part is detected above this overlap
  double radius = 0.10;  // of the disc drawn at each unit above T_f, as a share of the input side

  static auto fields() {
    using Row = Field<InterpretabilityOptions, double>;
    return std::tuple{
        Row{"quantile", &InterpretabilityOptions::quantile, "share of units above T_f", 1e-6, 0.5},
        Row{"iou", &InterpretabilityOptions::iou, "overlap above which a part counts", 0.0, 1.0},
        Row{"radius", &InterpretabilityOptions::radius, "disc radius / input side", 1e-3, 1.0},
    };
  }
};

struct FilterInterpretability {
  int64_t category = -1;
  double threshold = 0.0;         // T_f
  int64_t best_part = -1;         // index into the category's parts; -1 if it has none
  double interpretability = 0.0;  // P_f = max_k P_{f,k}
  double silent_share = 0.0;      // rows of the category without a unit above T_f
  std::vector<double> by_part;    // P_{f,k}; NaN where no row shows the part
};

struct PartInterpretability {
  Finding finding;  // controls: shuffled_images (maps paired with the parts of other rows of the
                    // category), constant_centre (one disc at the input's centre, per category,
                    // averaged like filters)
  double silent_share = 0.0;
  std::vector<FilterInterpretability> filters;
};

// Part interpretability (paper, "Evaluation metric: part interpretability"), P_f in place of the
// paper's hand-checked IoU. Over all positions of all maps of the filter's category, T_f is the
// exact quantile with P(x > T_f) = quantile (0 if the quantile is 0: then every x > 0 counts). S_f
// = union of discs at the unit centres with x > T_f. P_{f,k} = share of the rows that show part k
// whose IoU(S_f, part k) > iou; P_f = max_k; mean over filters. A row without a unit above T_f
// counts as 0. `maps` are those after ReLU and mask. `filter_category` as in location_instability;
// -1: the category with the highest P_f is taken, which flatters the filter.
PartInterpretability part_interpretability(const Maps& maps,
                                           const UnitGrid& grid,
                                           const Truth& truth,
                                           std::span<const int64_t> filter_category,
                                           const InterpretabilityOptions& options,
                                           const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
