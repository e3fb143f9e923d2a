#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/maps.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <string>
#include <vector>

namespace partwise::metrics {

enum class QuantileOf { cells, pixels };  // pixels: those of the enlarged maps

}  // namespace partwise::metrics

template <>
inline constexpr auto partwise::kWords<partwise::metrics::QuantileOf> = partwise::words("cells",
                                                                                        "pixels");

namespace partwise::metrics {

struct DissectionOptions {
  double quantile = 0.005;  // share of a unit's activations above its threshold
  QuantileOf quantile_of = QuantileOf::cells;
  int64_t step = 1;   // look at every step-th pixel of the input
  double iou = 0.04;  // a unit is a detector above this

  static auto fields() {
    using Row = Field<DissectionOptions, double>;
    return std::tuple{
        Row{"detector_quantile", &DissectionOptions::quantile, "share above the threshold", 1e-6,
            0.5},
        Field{"detector_quantile_of", &DissectionOptions::quantile_of,
              "what the quantile is taken of"},
        Field<DissectionOptions, int64_t>{"detector_step", &DissectionOptions::step,
                                          "look at every n-th pixel", 1, 64},
        Row{"detector_iou", &DissectionOptions::iou, "IoU that makes a detector", 0.0, 1.0},
    };
  }
};

// Bau et al. 2017 (NetDissect): the threshold is a quantile of the cells, the masks those of the
// bilinearly enlarged maps at full size.
inline const DissectionOptions kDissection2017{};
// Bau et al. 2020 (dissect): maps are enlarged to a quarter of the input's side first, and the
// threshold is the top 1 % of those pixels.
inline const DissectionOptions kDissection2020{
    .quantile = 0.01, .quantile_of = QuantileOf::pixels, .step = 4};

struct UnitDetector {
  int64_t part = -1;  // the one of the highest IoU
  double iou = 0.0;   // NaN if no part is shown anywhere
  double threshold = 0.0;
  double chance = 0.0;  // the highest IoU with the parts of other rows
};

struct NetworkDissection {
  // Share of units that are detectors; control: shuffled_images; facts: their count, count by_part,
  // unique (parts that some detector detects best) and chance_unique (with the parts of other
  // rows).
  Finding detectors;
  std::vector<UnitDetector> units;
};

// Network Dissection with part masks for concepts. T_u: the upper_quantile over all rows of the
// unit's cells, or of the pixels of its enlarged maps (Enlargement). M_u: the pixels of the
// enlarged maps above T_u. IoU_{u,k} = sum |M_u and L_k| / sum |M_u or L_k|, sums over the rows
// that show an object (nothing is known of the others), L_k the pixels of part k; parts of one name
// are one concept in all categories. A unit detects its best part (ties: the first) if that IoU
// exceeds `iou`. shuffled_images: L_k of another row of the same category, one derangement for all
// units.
//
// Exact for any number of rows and any batches: the quantile takes three passes over the source,
// the masks one more; kept are 8 (parts + 1) bytes per map at most. The interval (centred) draws
// rows and units anew and keeps T_u. docs/metrics.md says what was checked against the authors'
// programs.
NetworkDissection network_dissection(const MapSource& maps,
                                     const UnitGrid& grid,
                                     const Truth& truth,
                                     const DissectionOptions& options,
                                     const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
