#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace partwise::views {

// Text made safe between tags and inside quoted attributes of HTML and SVG; what neither allows,
// control characters and broken UTF-8, becomes U+FFFD.
std::string escape_markup(std::string_view text);

// At most `length` characters (UTF-8), the last of them an ellipsis where text was cut.
std::string shortened(std::string_view text, std::size_t length);

// Characters, not bytes.
std::size_t text_length(std::string_view text);

}  // namespace partwise::views
