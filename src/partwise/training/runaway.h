#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace partwise::training {

// What to tell when the last of these rows of log.jsonl is the first whose training loss is above
// the first epoch's: accuracy may hardly show it. Names how much louder each interpretable layer
// has become since then (decision 0011).
std::optional<std::string> runaway_warning(const std::vector<nlohmann::json>& rows);

}  // namespace partwise::training
