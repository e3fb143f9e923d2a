#pragma once

#include <stdexcept>

namespace partwise {

// Thrown by long work after it has saved what it had; `main` prints it and exits 130.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// From here on SIGINT and SIGTERM only set a flag; a second one ends the program at once.
// A limit on the size of files does not end it: writing fails, as on a full disk.
void watch_for_interrupts();

bool interrupt_requested();

}  // namespace partwise
