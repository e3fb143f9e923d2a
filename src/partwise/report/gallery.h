#pragma once

#include "partwise/report/loaded_run.h"

#include <span>
#include <string>

namespace partwise::report {

// Filters with the pictures they fire on, per run and layer: the best, some drawn at random and the
// worst, each under its own heading where the findings say how a filter was chosen. Pictures must
// lie below their run's folder.
std::string gallery(std::span<const LoadedRun> runs);

}  // namespace partwise::report
