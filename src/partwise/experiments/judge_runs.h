#pragma once

#include "partwise/experiments/machine.h"
#include "partwise/findings/run_findings.h"
#include "partwise/judging/measure_options.h"

#include <filesystem>
#include <string>
#include <vector>

namespace partwise::experiments {

// Measures runs, each on the dataset in `data` or, where that is empty, on its own, and leaves what
// was found in their folders.
std::vector<findings::NamedFindings> measure_runs(const std::vector<std::string>& folders,
                                                  const std::string& data,
                                                  const judging::MeasureOptions& options,
                                                  const Machine& machine);

// A layer's activations over a split as a .safetensors file; docs/dump.md.
judging::DumpSize dump_run(const std::string& folder,
                           const std::string& data,
                           const judging::DumpOptions& options,
                           const std::filesystem::path& out,
                           const Machine& machine);

}  // namespace partwise::experiments
