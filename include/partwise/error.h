#pragma once

#include <stdexcept>

namespace partwise {

// Something outside the program is wrong: a file, an option, an upload, a tensor of another shape.
// The message says what, where, and what to do about it. `main` prints it and exits 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace partwise
