#pragma once

#include "partwise/report/findings_grid.h"

namespace partwise::report {

// The same table as a LaTeX tabular without packages, for \input inside a table environment.
std::string findings_latex(std::span<const NamedFindings> runs);

}  // namespace partwise::report
