#pragma once

#include "partwise/cli/command.h"
#include "partwise/judging/dissection.h"
#include "partwise/judging/extra_metrics.h"
#include "partwise/judging/layer_findings.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace partwise::cli {

// What every command that measures layers can be told. `known` are the names --metrics takes; where
// there is a network (network_metrics), it can be attacked too.
struct MeasureFlags {
  std::vector<std::string> known = judging::extra_metric_names();
  bool all = false;
  std::string metrics;
  nlohmann::json given = nlohmann::json::object();
};

std::vector<std::string> network_metrics();

void add_measure_flags(CLI::App& app, MeasureFlags& flags);

// A wrong name or value is an Error.
judging::LayerOptions layer_options(const MeasureFlags& flags, int threads);
judging::MeasureOptions network_options(const MeasureFlags& flags,
                                        const std::string& split,
                                        int threads);

}  // namespace partwise::cli
