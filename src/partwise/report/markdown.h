#pragma once

#include "partwise/report/findings_grid.h"

namespace partwise::report {

// A table of values and 95 % intervals, one line a metric, and a sentence on what it shows.
std::string findings_markdown(std::span<const NamedFindings> runs);

}  // namespace partwise::report
