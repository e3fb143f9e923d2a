#pragma once

#include "partwise/findings/run_comparison.h"

#include <span>
#include <string>
#include <vector>

namespace partwise::report {

// A table for the terminal: every column as wide as its widest cell. Cells may be a stranger's
// text: what a terminal takes for a command, or for the end of a line, is shown as \xNN.
using Rows = std::vector<std::vector<std::string>>;
std::string aligned(const Rows& rows);

// The numbers that lead, one row per layer. Several runs go by their names, one by its arm; so
// below.
std::string findings_table(std::span<const findings::NamedFindings> runs);

// One line per finding: key, value, interval, controls; `all`: those that lead too.
std::string finding_lines(const findings::Findings& found, bool all);

// Those lines of the networks and their layers, where there are any.
std::string further_lines(std::span<const findings::NamedFindings> runs);

// One line for each thing that is wrong with how a layer's filters are at work (report/verdict.h).
std::string warning_lines(std::span<const findings::NamedFindings> runs);

// One line per number, and how many leave out 0 by chance.
std::string comparison_table(std::span<const findings::ComparedNumber> numbers);

}  // namespace partwise::report
