#pragma once

#include <string_view>

namespace partwise::report {

// The page's own style sheet: light and dark by the reader's preference, wide, narrow and printed.
std::string_view style_sheet();

// Sorting, downloads, opening folded parts for print. The page is complete without it.
std::string_view script();

}  // namespace partwise::report
