#pragma once

#include "partwise/report/findings_grid.h"

namespace partwise::report {

// One line a number, for spreadsheets and data frames, with a header:
//   run,net,arm,task,split,images,training_images,layer,metric,kind,value,low,high
// kind is "measured" or a control's name; a number that does not exist is an empty field.
std::string findings_csv(std::span<const NamedFindings> runs);

}  // namespace partwise::report
