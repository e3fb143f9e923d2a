#pragma once

#include "partwise/findings/run_findings.h"
#include "partwise/judging/measure_options.h"
#include "partwise/runs/run_folder.h"

#include <string>

namespace partwise::judging {

// That what was measured describes another moment of the training than the checkpoint it names is
// of, in one line with the remedy. "": it does describe that network, or nothing tells: an older
// program measured it, or the checkpoint has gone.
std::string why_outdated(const runs::RunFolder& run, const findings::RunFindings& found);

// Whether they are of this split and checkpoint, and as far as anybody knows of its network as it
// is now.
bool are_as_asked(const runs::RunFolder& run,
                  const findings::RunFindings& found,
                  const MeasureOptions& options);

}  // namespace partwise::judging
