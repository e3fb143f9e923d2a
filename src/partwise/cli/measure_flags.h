#pragma once

#include "partwise/cli/command.h"
#include "partwise/judging/dissection.h"

#include <nlohmann/json.hpp>

#include <string>

namespace partwise::cli {

// What every command that measures layers can be told; a network can be attacked too.
struct MeasureFlags {
  bool of_network = false;
  bool all = false;
  std::string metrics;
  nlohmann::json given = nlohmann::json::object();
};

void add_measure_flags(CLI::App& app, MeasureFlags& flags);

// A wrong name or value is an Error.
metrics::LayerOptions layer_options(const MeasureFlags& flags, int threads);
judging::MeasureOptions network_options(const MeasureFlags& flags,
                                        const std::string& split,
                                        int threads);

}  // namespace partwise::cli
