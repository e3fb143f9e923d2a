#pragma once

#include "partwise/metrics/filter_mean.h"
#include "partwise/metrics/map_summaries.h"

#include <cstdint>
#include <span>

namespace partwise::metrics {

// Class selectivity index (Morcos et al. 2018) of each filter: with mu_c the mean over the rows of
// class c of the map's mean activation, (mu_max - mu_rest) / (mu_max + mu_rest), mu_max the largest
// mu_c and mu_rest the mean of the others. 0: all classes alike, 1: silent on all but one. Uses the
// labels and no parts: it says nothing of where a filter fires. row_class [rows] in [0, classes),
// -1: left out; classes without rows do not count.
FilterMean class_selectivity(const MapSummaries& maps,
                             std::span<const int64_t> row_class,
                             int64_t classes,
                             const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
