#pragma once

#include "partwise/metrics/activations.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/truth.h"

#include <cstdint>
#include <span>

namespace partwise::metrics {

// Holds the caller to maps, truth and filter categories (index into truth.categories or -1) that
// speak of the same rows, input and filters.
void expect_matching(const Maps& maps,
                     const UnitGrid& grid,
                     const Truth& truth,
                     std::span<const int64_t> filter_category);

// The same of maps that were summarised, and without filter categories.
void expect_matching(const MapSummaries& maps, const UnitGrid& grid, const Truth& truth);
void expect_categories(std::span<const int64_t> filter_category,
                       int64_t filters,
                       const Truth& truth);

}  // namespace partwise::metrics
