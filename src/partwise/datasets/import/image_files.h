#pragma once

#include <filesystem>
#include <vector>

namespace partwise::datasets {

// Every file below `folder` but hidden ones, sorted, relative to it. Whether each is an image shows
// when it is decoded.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

}  // namespace partwise::datasets
