#pragma once

#include "partwise/datasets/import/importers.h"
#include "partwise/datasets/same_pictures.h"

#include <span>
#include <string>
#include <vector>

namespace partwise::datasets {

// What is as the original has it, and may not be as a person meant it: one line each, what the
// importer noted first. `empty`: names of categories that were planned and have no object.
std::vector<std::string> doubts_about(const PartDataset& dataset,
                                      const ImportPlan& plan,
                                      std::span<const std::string> empty,
                                      std::span<const SamePicture> same);

}  // namespace partwise::datasets
