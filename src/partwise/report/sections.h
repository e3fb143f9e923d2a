#pragma once

#include "partwise/report/loaded_run.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace partwise::report {

struct Section {
  std::string id;
  std::string title;
  std::string body;  // markup
};

// The page's sections, in order. `context` as in report.h.
std::vector<Section> sections(std::span<const LoadedRun> runs, const nlohmann::json& context);

// A field of the context: "" or nothing where it is missing; an Error where it has another type.
std::string context_text(const nlohmann::json& context, const std::string& key);
const nlohmann::json& context_object(const nlohmann::json& context, const std::string& key);

}  // namespace partwise::report
