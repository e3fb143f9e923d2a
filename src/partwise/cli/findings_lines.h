#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace partwise::cli {

// "0.783 [0.751, 0.812]", a dash for each number that does not exist.
std::string finding_text(const nlohmann::json& finding);

// One line a finding of a layer: key, value, interval, controls; `skip_common` leaves out those
// the measure table shows anyway.
std::string finding_lines(const nlohmann::json& layer, bool skip_common);

}  // namespace partwise::cli
