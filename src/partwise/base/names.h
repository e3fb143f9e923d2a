#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partwise {

// The known name closest to what was typed (edit distance), for "did you mean".
std::string nearest_name(std::string_view typed, std::span<const std::string> known);

// The index of `name` in `known`; otherwise an Error that lists what is valid:
//   "no arm 'maskd'; arms are: ordinary, masked (did you mean 'masked'?)"
std::size_t index_of_name(std::string_view kind,
                          std::string_view name,
                          std::span<const std::string> known);

std::string join(std::span<const std::string> names, std::string_view separator = ", ");

}  // namespace partwise
