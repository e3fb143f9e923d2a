#pragma once

#include "partwise/metrics/map_source.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/maps.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>

namespace partwise::metrics {

// Holds the caller to maps and truth that speak of the same rows and input.
void expect_matching(const MapSource& maps, const UnitGrid& grid, const Truth& truth);
void expect_matching(const MapSummaries& maps, const UnitGrid& grid, const Truth& truth);

// One category a filter: index into truth.categories or -1.
void expect_categories(std::span<const int64_t> filter_category,
                       int64_t filters,
                       const Truth& truth);

}  // namespace partwise::metrics
