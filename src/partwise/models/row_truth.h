#pragma once

#include "partwise/datasets/crops.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/metrics/truth.h"

#include <span>
#include <vector>

namespace partwise::models {

// Landmarks and part masks of the samples in pixels of their crops, categories in the order of
// their ids; objects of other categories count as none.
metrics::Truth truth_of(const datasets::PartDataset& dataset,
                        std::span<const int64_t> category_ids,
                        const std::vector<datasets::Sample>& samples,
                        int64_t side);

}  // namespace partwise::models
