#pragma once

#include <string_view>

namespace partwise::weights {

// Whether `a` comes before `b` when runs of digits count as numbers: "conv.2" before "conv.10".
// Different texts are never equal: "a1" and "a01" have an order too.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace partwise::weights
