#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace partwise {

// Makes a new or empty folder ours: the mark is the first file in it, and says what the folder is.
// What a process leaves that is killed while it writes the mark does not count, and goes. A folder
// that holds anything else exists and is not `what` ("a run"): an Error, and it stays as it is.
void claim_folder(const std::filesystem::path& folder,
                  const std::string& mark,
                  const nlohmann::json& object,
                  std::string_view what);

}  // namespace partwise
