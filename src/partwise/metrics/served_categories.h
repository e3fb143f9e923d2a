#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/map_summaries.h"

#include <cstdint>
#include <span>
#include <string>

namespace partwise::metrics {

// With less than this of its fair share of filters a category counts as unserved.
inline constexpr double kServedFrom = 1.0 / 3.0;

// How much of its fair share of filters the category with the fewest has: min_c F_c / (F / C), 0
// where it has none. F_c: the filters of category c that fire on some row (one that never does
// stands for nothing); F: all filters. filter_category [filters]: index into categories. Control:
// random_categories, the mean were each filter's category drawn at random. Facts: "category", the
// first of those with the fewest; "unserved", the names of those below kServedFrom. Does not exist
// for fewer than two categories. The interval draws filters anew.
Finding smallest_category_share(const MapSummaries& maps,
                                std::span<const int64_t> filter_category,
                                std::span<const std::string> categories,
                                const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
