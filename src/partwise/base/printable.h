#pragma once

#include <string>
#include <string_view>

namespace partwise {

// Text out of a stranger's file, fit for one line of a terminal: broken UTF-8, control characters
// and those that break lines or turn their direction become \xNN, and what is longer than `limit`
// bytes ends in "...".
std::string printable(std::string_view text, std::size_t limit = 120);

// The same for a whole complaint: of what is too long the middle is left out, since the beginning
// says where and the end what to do.
std::string one_line(std::string_view text);

// Of a library's message, whose further lines tell a person nothing: LibTorch's are a backtrace.
std::string first_line(std::string_view text);

}  // namespace partwise
