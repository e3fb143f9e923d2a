#pragma once

#include "partwise/metrics/map_summaries.h"

#include <cstdint>
#include <vector>

namespace partwise::atlas {

struct Neighbour {
  int64_t filter = 0;
  double correlation = 0.0;
};

// Filters of the same layer whose peaks go up and down with this one's over the rows (Pearson), the
// most alike first. A filter whose peak never changes is like none.
std::vector<Neighbour> nearest_filters(const metrics::MapSummaries& layer,
                                       int64_t filter,
                                       int64_t count);

struct Match {
  int64_t first = 0;
  int64_t second = 0;
  double correlation = 0.0;
};

// Which filter of one network became which of another: one partner each, so that the correlations
// of their peaks over the same rows sum to the most (Hungarian method); as many pairs as the
// smaller layer has filters, in the order of the first.
std::vector<Match> matched_filters(const metrics::MapSummaries& first,
                                   const metrics::MapSummaries& second);

}  // namespace partwise::atlas
