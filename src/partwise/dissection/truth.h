#pragma once

#include "partwise/datasets/crops.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/metrics/truth.h"
#include "partwise/training/task.h"

#include <vector>

namespace partwise::dissection {

// Landmarks and part masks of the samples in pixels of their crops, categories in the task's order.
metrics::Truth truth_of(const datasets::PartDataset& dataset,
                        const training::Task& task,
                        const std::vector<datasets::Sample>& samples,
                        int64_t side);

}  // namespace partwise::dissection
