#pragma once

#include "partwise/explaining/verification.h"

#include <span>
#include <string>

namespace partwise::explaining {

struct NamedVerification {
  std::string name;  // the run's folder
  Verification found;
};

// For people at a terminal: values with half widths of their intervals, run by run; where several
// runs of one net and arm differ in their seed, also the means over seeds with Student's intervals.
std::string verification_text(std::span<const NamedVerification> runs);

// One line per number, with a header:
//   run,net,arm,seed,table,row,number,value,low,high,n
std::string verification_csv(std::span<const NamedVerification> runs);

// One line per visible part of every judged image, to be looked at one by one:
//   run,image,decided,score,part,drop, then a column per method
std::string judged_parts_csv(std::span<const NamedVerification> runs);

// The same tables as verification_text in Markdown.
std::string verification_markdown(std::span<const NamedVerification> runs);

}  // namespace partwise::explaining
