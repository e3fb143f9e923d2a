#pragma once

#include "partwise/report/glossary.h"
#include "partwise/runs/run_folder.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace partwise::report {

// Everything the page says about one run, read once and checked.
struct LoadedRun {
  std::string label;   // the arm, with the folder's name where two runs share an arm
  int64_t style = 0;   // of its markers
  std::string folder;  // its path
  RunFindings findings;
  nlohmann::json options;
  nlohmann::json manifest;
  std::vector<nlohmann::json> log;
};

// From the plainest arm to the full method. A run that was not measured is an Error that names it
// and the command to run.
std::vector<LoadedRun> load_runs(const std::vector<runs::RunFolder>& folders);

}  // namespace partwise::report
