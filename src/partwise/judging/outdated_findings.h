#pragma once

#include "partwise/findings/run_findings.h"
#include "partwise/runs/run_folder.h"

#include <string>

namespace partwise::judging {

// That what was measured describes another moment of the training than the checkpoint it names is
// of, in one line with the remedy. "": it does describe that network, or nothing tells: an older
// program measured it, or the checkpoint has gone.
std::string why_outdated(const runs::RunFolder& run, const findings::RunFindings& found);

}  // namespace partwise::judging
