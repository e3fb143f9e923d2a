#include "partwise/base/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace partwise {
namespace {

constexpr int kInterruptedCode = 130;

volatile std::sig_atomic_t requested = 0;  // NOLINT: what a signal handler may touch
std::atomic<const char*> last_words = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);

void request(int signal) {
  if (const char* words = last_words) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words, std::strlen(words));
    ::_exit(kInterruptedCode);
  }
  requested = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_for_interrupts() {
  std::signal(SIGINT, request);
  std::signal(SIGTERM, request);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an Error of its writer
}

bool interrupt_requested() {
  return requested != 0;
}

Abandonable::Abandonable(const std::string& words)
    : line_("partwise: " + words + "\n"), before_(last_words.exchange(line_.c_str())) {
  if (!interrupt_requested()) return;
  last_words = before_;
  throw Interrupted(words);
}

Abandonable::~Abandonable() {
  last_words = before_;
}

}  // namespace partwise
