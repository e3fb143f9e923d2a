#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/maps.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

struct ConsistencyOptions {
  double box = 72.0 / 224.0;  // side of the region about the peak / input side
  double share = 0.8;         // a filter is consistent from this share on

  static auto fields() {
    using Row = Field<ConsistencyOptions, double>;
    return std::tuple{
        Row{"consistency_box", &ConsistencyOptions::box, "side of the region / input side", 1e-3,
            1.0},
        Row{"consistency_share", &ConsistencyOptions::share, "share that makes consistent", 0.0,
            1.0},
    };
  }
};

struct PartConsistency {
  Finding finding;  // share of consistent filters; controls: shuffled_images, constant_centre
  std::vector<double> shares;  // [filters]: max_k a_k; NaN where left out
};

// Consistency of EvalProtoPNet (Huang et al. 2023) on any maps: the region of a filter in a row of
// its category is the square about the unit centre of its peak; a_k = the share of the rows showing
// landmark k whose region holds an instance of it; the filter is consistent if max_k a_k >= share.
// `filter_category` [filters], -1: the filter is left out, as are filters whose category shows no
// landmark. Not like EvalProtoPNet: the peak is that of the map's cells, not of its bicubic
// enlargement, and landmarks are not rounded to whole pixels. constant_centre: a filter that always
// fires at the input's centre. shuffled_images: regions laid over another row of the category each.
PartConsistency part_consistency(const MapSummaries& maps,
                                 const UnitGrid& grid,
                                 const Truth& truth,
                                 std::span<const int64_t> filter_category,
                                 const ConsistencyOptions& options,
                                 const BootstrapOptions& bootstrap);

// Stability of EvalProtoPNet: per filter the share of the rows of its category whose region holds
// the same set of landmarks in both `maps` and `noisy`, the maps of the same rows with noise added
// to the input (there: N(0, 0.2) clipped to +-0.25 on normalised pixels; the caller's business);
// mean over filters. Controls: constant_filter = 1, the best score there is, and other_images: the
// regions of the same filter in another row of the category, which a stable filter must beat.
Finding part_stability(const MapSummaries& maps,
                       const MapSummaries& noisy,
                       const UnitGrid& grid,
                       const Truth& truth,
                       std::span<const int64_t> filter_category,
                       const ConsistencyOptions& options,
                       const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
