#pragma once

#include "partwise/cli/command.h"
#include "partwise/referee/layer_findings.h"

#include <nlohmann/json.hpp>

#include <string>

namespace partwise::cli {

// What every command that measures layers can be told.
struct MeasureFlags {
  bool all = false;
  std::string metrics;
  nlohmann::json given = nlohmann::json::object();
};

void add_measure_flags(CLI::App& app, MeasureFlags& flags);

// A wrong name or value is an Error.
referee::LayerOptions layer_options(const MeasureFlags& flags, int threads);

}  // namespace partwise::cli
