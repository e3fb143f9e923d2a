#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/map_summaries.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

// Below this share of a strong filter's loudness a filter is silent.
inline constexpr double kSilentBelow = 0.05;

// What a filter's loudness must reach not to be silent, kSilentBelow of a strong one's.
//   loudness [filters]
double silent_level(std::vector<double> loudness);

struct SilentFilters {
  Finding silent_share;  // what is trivial to compare with is another arm: masked
  Finding effective_filters;
  std::vector<double> loudness;  // [filters]
};

// How many of a layer's filters do anything.
//
// loudness_f = mean of max(peak, 0) over the filter's strongest sixth of the rows: floor(rows / 6)
// of them, at least one. A strong filter's loudness is the median over the strongest quarter of the
// filters, floor(filters / 4) of them, at least one (an even number: the mean of the middle two).
// silent_share is the share of the filters that do not fire there at all or whose loudness is below
// kSilentBelow of a strong one's: 1 for a layer in which nothing fires, 0 for a single filter that
// does.
//
// effective_filters = 1 / sum_f share_f^2, share_f the filter's part of all activation of the layer
// over all rows, sum x: the number of equally busy filters that are as spread out; 0 where nothing
// fires. (Activation, not peaks: a filter that fires weakly, but everywhere, is busy too.)
//
// A common scale changes neither. `maps` before the mask; NaN counts as 0. Intervals are centred
// bootstrap intervals; a row or filter drawn twice counts twice. Both are NaN without rows or
// filters.
SilentFilters silent_filters(const MapSummaries& maps, const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
