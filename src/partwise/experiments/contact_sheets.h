#pragma once

#include "partwise/datasets/part_dataset.h"

#include <filesystem>

namespace partwise::experiments {

// One PNG a category in `folder`: evenly spaced objects with their boxes, parts and landmarks.
// Prints what each shows and the colours. Images that can't be read are passed over.
void write_contact_sheets(const datasets::PartDataset& dataset,
                          const std::filesystem::path& folder);

}  // namespace partwise::experiments
