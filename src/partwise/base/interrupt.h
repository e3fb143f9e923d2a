#pragma once

#include <stdexcept>
#include <string>

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

// Work that writes nothing before its end, and may take long inside a library: while one of these
// exists, the first SIGINT or SIGTERM ends the program at once with these words and exit code 130.
// Interrupted where one came before.
class Abandonable {
 public:
  explicit Abandonable(const std::string& words);
  ~Abandonable();
  Abandonable(const Abandonable&) = delete;
  Abandonable& operator=(const Abandonable&) = delete;

 private:
  std::string line_;
  const char* before_;
};

}  // namespace partwise
