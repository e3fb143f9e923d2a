#pragma once

#include "partwise/findings/run_findings.h"
#include "partwise/runs/run_folder.h"

#include <vector>

namespace partwise::findings {

// findings.json in the run's folder and, named there with its hash, draws.safetensors. Nothing
// where the run was not measured. Without its draws, or with those of another measuring, it opens
// and says so in without_draws; whoever reads while it is measured anew gets the old ones or the
// new ones. draws.safetensors holds one array [1 or 2, draws] f64 per finding, its own draws and
// its partner's, named KEY or LAYER/KEY.
std::optional<RunFindings> read_findings(const runs::RunFolder& run);
void write_findings(const runs::RunFolder& run, const RunFindings& findings);

// What was found about the run before it was given more epochs: findings-epoch-N.json (without
// draws). One that cannot be read is passed over.
std::vector<RunFindings> findings_put_aside(const runs::RunFolder& run);

// Finishes what a writer that was killed after findings.json had begun; for the run's only writer.
void settle_findings(const runs::RunFolder& run);

// The same where it must be there: an Error names the run and the command to run.
RunFindings require_findings(const runs::RunFolder& run);

}  // namespace partwise::findings
