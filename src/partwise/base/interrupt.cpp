#include "partwise/base/interrupt.h"

#include "partwise/base/printable.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace partwise {

bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

namespace {

constexpr int kInterruptedCode = 130;

// What a signal handler may touch.
std::atomic<bool> requested = false;
std::atomic<const char*> last_words = nullptr;
std::atomic<int> unbroken = 0;
static_assert(std::atomic<bool>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

void leave_if_abandonable() {
  if (unbroken > 0) return;
  const char* words = last_words.exchange(nullptr);  // said once, whichever thread leaves
  if (words == nullptr) return;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words, std::strlen(words));
  ::_exit(kInterruptedCode);
}

// The flag first: a thread that ends what is unbroken counts down and then looks at it, so that one
// of the two sees the other.
void request(int) {
  requested = true;
  leave_if_abandonable();
  for (const int next : kInterrupts)
    if (!is_ignored(next)) std::signal(next, SIG_DFL);
}

// On a terminal the words take the place of a line that tells how far the work is.
std::string line_of(const std::string& words) {
  return (::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "") + ("partwise: " + one_line(words) + "\n");
}

}  // namespace

sigset_t all_interrupts() {
  sigset_t all;
  sigemptyset(&all);
  for (const int signal : kInterrupts) sigaddset(&all, signal);
  return all;
}

void watch_for_interrupts() {
  for (const int signal : kInterrupts)
    if (!is_ignored(signal)) std::signal(signal, request);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an Error of its writer
  std::signal(SIGPIPE, SIG_IGN);  // and so is a reader that has gone
  std::signal(SIGCHLD, SIG_DFL);
  const auto watched = all_interrupts();
  sigprocmask(SIG_UNBLOCK, &watched, nullptr);
}

bool interrupt_requested() {
  return requested;
}

Abandonable::Abandonable(const std::string& words)
    : line_(line_of(words)), before_(last_words.exchange(line_.c_str())) {
  if (!interrupt_requested()) return;
  last_words = before_;
  throw Interrupted(words);
}

Abandonable::~Abandonable() {
  last_words = before_;
}

Heeding::Heeding() : before_(last_words.exchange(nullptr)) {}

Heeding::~Heeding() {
  last_words = before_;
}

void Unbroken::begin() {
  ++unbroken;
}

void Unbroken::end() {
  if (--unbroken == 0 && interrupt_requested()) leave_if_abandonable();
}

}  // namespace partwise
