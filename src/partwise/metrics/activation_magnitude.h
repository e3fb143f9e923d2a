#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/map_summaries.h"

#include <cstdint>
#include <span>

namespace partwise::metrics {

struct ActivationMagnitude {
  Finding on_target;  // control: any_row (the mean over all rows)
  Finding on_other;   // control: any_row
  Finding ratio;      // on_target / on_other; controls: no_preference = 1, shuffled_labels (the
                      // categories of the rows permuted)
};

// Activation magnitudes (paper, "Activation magnitudes", Table "activation"): the mean of max_ij x
// over all pairs of a filter and a row of its category, and over all pairs of a filter and another
// row. Pairs are pooled, so a filter of a frequent category weighs more. A negative or missing peak
// counts as 0. row_category [rows]; filter_category [filters], -1: the filter is left out, taken
// from training rows as everywhere. The ratio is NaN where on_other is 0.
ActivationMagnitude activation_magnitude(const MapSummaries& maps,
                                         std::span<const int64_t> row_category,
                                         std::span<const int64_t> filter_category,
                                         const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
