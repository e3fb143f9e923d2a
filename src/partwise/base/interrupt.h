#pragma once

#include <csignal>
#include <stdexcept>
#include <string>

namespace partwise {

// Thrown by long work after it has saved what it had; `main` prints it and exits 130.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a program is asked to end with: Ctrl-C, `kill`, a terminal that closes.
inline constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t all_interrupts();  // the same, as a mask

// From here on kInterrupts only set a flag; a second one of any ends the program at once. Those
// that came while they were blocked count; one that is ignored stays so. A limit on the size of
// files does not end the program, nor does a reader that goes away: writing fails, as on a full
// disk. Processes that it starts can be waited for, even if whoever started it wanted to know
// nothing of its own.
void watch_for_interrupts();

// Whether whoever started the program did not want it to hear this signal, as a shell does that
// puts a command into the background.
bool is_ignored(int signal);

bool interrupt_requested();

// Work that may be left at any moment and may take long inside a library: while one of these
// exists, the first of kInterrupts ends the program at once with these words and exit code 130.
// Interrupted where one came before. `main` holds one around every command; inner ones know better
// words.
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

// Work that looks at the flag itself and saves what it has, inside work that may be abandoned.
class Heeding {
 public:
  Heeding();
  ~Heeding();
  Heeding(const Heeding&) = delete;
  Heeding& operator=(const Heeding&) = delete;

 private:
  const char* before_;
};

// A moment that is not cut in two, such as a file's: what may be abandoned ends behind it.
class Unbroken {
 public:
  Unbroken() { begin(); }
  ~Unbroken() { end(); }
  Unbroken(const Unbroken&) = delete;
  Unbroken& operator=(const Unbroken&) = delete;

  static void begin();
  static void end();
};

}  // namespace partwise
