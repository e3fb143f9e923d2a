#pragma once

#include "partwise/error.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace partwise {

// The world must be so.
template <typename... Args>
void ensure(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw Error(fmt::format(message, std::forward<Args>(args)...));
}

// The caller must have made it so; anything else is our bug (exit 3).
template <typename... Args>
void expects(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw std::logic_error(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace partwise
