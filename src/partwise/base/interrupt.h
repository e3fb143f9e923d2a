#pragma once

#include <stdexcept>

namespace partwise {

// Thrown by long work after it has saved what it had; `main` prints it and exits 130.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// From here on SIGINT and SIGTERM only set a flag; a second one ends the program at once.
void watch_for_interrupts();

bool interrupt_requested();

}  // namespace partwise
