#pragma once

#include <stdexcept>
#include <string_view>

namespace partwise {

// Something outside the program is wrong: a file, an option, an upload, a tensor of another shape.
// The message says what, where, and what to do about it; it is one short line without control
// characters, whatever it quotes. `main` prints it and exits 1.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string_view message);
};

}  // namespace partwise
