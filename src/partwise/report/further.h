#pragma once

#include "partwise/report/loaded_run.h"

#include <span>
#include <string>

namespace partwise::report {

// The measures beyond the first four, a folded block for each family of which something was
// measured, with its words and charts; "" without any.
std::string further_measures(std::span<const LoadedRun> runs);

}  // namespace partwise::report
