#pragma once

#include "partwise/runs/run_folder.h"

#include <string>
#include <vector>

namespace partwise::cli {

// A table of the runs' findings, one row per layer.
std::string findings_table(const std::vector<runs::RunFolder>& runs);

}  // namespace partwise::cli
