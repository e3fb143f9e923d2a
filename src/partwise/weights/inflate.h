#pragma once

#include <string>
#include <string_view>

namespace partwise::weights {

// A zlib stream, decompressed; an Error that begins with `place` when it is damaged, cut off or
// gives more than `limit` bytes.
std::string inflated(std::string_view bytes, std::size_t limit, const std::string& place);

}  // namespace partwise::weights
