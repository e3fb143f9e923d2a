#pragma once

#include "partwise/datasets/part_dataset.h"

#include <string_view>

namespace partwise::datasets {

// The dataset whose info contains every member of `identity`, where the folder holds it with all
// its images. Otherwise nothing, and the folder is ready for its images: a new or empty one gets the
// mark of unfinished work, one that has begun is left as it is. A non-empty folder that is something
// else is refused.
std::optional<PartDataset> begin_dataset(const std::filesystem::path& folder,
                                         const nlohmann::json& identity);

// Atomic, but without waiting for the disk; nothing happens when the file holds these bytes
// already.
void write_if_new(const std::filesystem::path& path, std::string_view bytes);

// Flushes the images to disk, writes dataset.json, removes the mark; gives what a reader will see.
PartDataset finish_dataset(const PartDataset& dataset);

}  // namespace partwise::datasets
