#pragma once

#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/maps.h"

#include <cstdint>
#include <span>
#include <vector>

namespace partwise::metrics {

// argmax_c E_{rows of c} sum_ij x_ij, per filter (paper, "Determining the target category for each
// filter"); to be fed with training rows. row_category [rows], -1: row belongs to no category; a
// filter that never fires gets category 0. Ties: the first category.
std::vector<int64_t> strongest_category(const Maps& maps,
                                        std::span<const int64_t> row_category,
                                        int64_t categories);

// The same of maps that were summarised.
std::vector<int64_t> strongest_category(const MapSummaries& maps,
                                        std::span<const int64_t> row_category,
                                        int64_t categories);

}  // namespace partwise::metrics
