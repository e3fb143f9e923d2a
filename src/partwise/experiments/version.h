#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace partwise::experiments {

std::string version_text();

// What a run's manifest says of the program and the data: version, commit, LibTorch, checksum of
// the dataset's description, command-independent.
nlohmann::json make_manifest(const std::string& data_folder);

}  // namespace partwise::experiments
