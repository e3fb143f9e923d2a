#pragma once

#include "partwise/datasets/part_dataset.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace partwise::datasets {

enum class FolderState { fresh, unfinished, finished };

// What `folder` holds of the dataset whose info contains every member of `identity`. A non-empty
// folder that is something else is refused.
FolderState folder_state(const std::filesystem::path& folder, const nlohmann::json& identity);

// Creates the folder and leaves the mark of unfinished work in it.
void begin_dataset(const std::filesystem::path& folder, const nlohmann::json& identity);

// Atomic, but without waiting for the disk; nothing happens when the file holds these bytes
// already.
void write_if_new(const std::filesystem::path& path, std::string_view bytes);

// Flushes the images to disk, writes dataset.json, removes the mark; gives what a reader will see.
PartDataset finish_dataset(const PartDataset& dataset);

bool all_images_there(const PartDataset& dataset);

}  // namespace partwise::datasets
