#pragma once

#include "partwise/experiments/machine.h"
#include "partwise/runs/run_folder.h"

#include <filesystem>
#include <vector>

namespace partwise::experiments {

// Three explained photographs for the first screen of these runs' report, into the folder of the
// run nearest to the full method (runs/explained_photographs.h). Objects of the measured split are
// drawn by the run's seed and chosen by explaining/shown_objects.h. They stay while checkpoint,
// names of parts and data do; what cannot be explained is said in one line, and older ones are
// forgotten.
//   data: a folder that a person names; without one it is the run's own, of which photographs that
//     have changed since the run was trained are not explained (models/run_data.h)
// The session starts where there is something to do.
void explain_for_report(const std::vector<runs::RunFolder>& runs,
                        const std::filesystem::path& data,
                        const Machine& machine);

}  // namespace partwise::experiments
