#pragma once

#include "partwise/datasets/import/plan.h"

#include <filesystem>
#include <vector>

namespace partwise::datasets {

// Every file below `folder` but hidden ones, sorted, relative to it. Whether each is an image shows
// when it is decoded.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

// Adds every file below `folder` as an image without objects, under images/negatives.
void plan_negatives(const std::filesystem::path& folder, ImportPlan& plan);

}  // namespace partwise::datasets
