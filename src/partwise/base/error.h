#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace partwise {

// Something outside the program is wrong: a file, an option, an upload. The message says what,
// where, and what to do about it. `main` prints it and exits 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

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
