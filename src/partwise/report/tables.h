#pragma once

#include "partwise/report/sections.h"
#include "partwise/report/verdict.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>

namespace partwise::report {

// One row per network and layer, the numbers most people want.
std::string summary_table(std::span<const LoadedRun> runs);

// Every measured number with its interval and all its controls.
std::string numbers_table(std::span<const LoadedRun> runs);

// What may be said about each number, and what not.
std::string claims_table(std::span<const Claim> all);

// Counts of truth against prediction; "" for a run without them.
std::string confusion_table(const LoadedRun& run);

// A flat JSON object, key by key.
std::string key_value_table(const nlohmann::json& object, const std::string& caption);

}  // namespace partwise::report
