#pragma once

#include "partwise/findings/run_findings.h"
#include "partwise/metrics/catalogue.h"

#include <span>
#include <string>

namespace partwise::report {

using findings::arm_rank;
using findings::find_finding;
using findings::Finding;
using findings::Findings;
using findings::LayerFindings;
using findings::RunFindings;
using metrics::Better;
using metrics::Metric;
using metrics::NumberWords;

struct ArmWords {
  const char* arm;
  const char* article_name;  // "the ordinary network"
  const char* meaning;
};
std::span<const ArmWords> arms();  // in the order of arm_rank

// "uniform_map" -> "uniform map": controls are named well enough by their keys.
std::string control_name(const std::string& key);

}  // namespace partwise::report
