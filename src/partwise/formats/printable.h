#pragma once

#include <string>
#include <string_view>

namespace partwise::formats {

// Text out of a stranger's file, fit for one line of a terminal: control characters and broken
// UTF-8 become \xNN, and what is longer than `limit` bytes ends in "...".
std::string printable(std::string_view text, std::size_t limit = 120);

}  // namespace partwise::formats
