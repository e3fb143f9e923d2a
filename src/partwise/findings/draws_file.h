#pragma once

#include "partwise/findings/run_findings.h"

#include <filesystem>

namespace partwise::findings {

// draws.safetensors in the folder: one array [1 or 2, draws] f64 for each finding, its own draws and
// its partner's, named KEY or LAYER/KEY. Gives {"file", "hash"}, what findings.json says of it.
nlohmann::json write_draws(const std::filesystem::path& folder, const RunFindings& findings);

// Puts them back; why not, where the file is missing or belongs to another findings.json.
std::string add_draws(const std::filesystem::path& folder,
                      const nlohmann::json& findings_json,
                      RunFindings& findings);

}  // namespace partwise::findings
