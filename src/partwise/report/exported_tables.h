#pragma once

#include "partwise/findings/run_findings.h"

#include <span>
#include <string>

namespace partwise::report {

// One line per number, for spreadsheets and data frames, with a header:
//   run,net,arm,task,split,images,training_images,layer,metric,kind,value,low,high
// kind is "measured" or a control's name; a number that does not exist is an empty field.
std::string findings_csv(std::span<const findings::NamedFindings> runs);

// Values with 95 % intervals: one line per metric, in the catalogue's order, then those it does not
// know; one column per layer of a run. What is measured of the whole network stands in the column
// of the run's first layer. A sentence says what it shows.
std::string findings_markdown(std::span<const findings::NamedFindings> runs);

// The same table as a LaTeX tabular without packages, for \input inside a table environment.
std::string findings_latex(std::span<const findings::NamedFindings> runs);

}  // namespace partwise::report
