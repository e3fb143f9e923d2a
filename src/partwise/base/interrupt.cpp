#include "partwise/base/interrupt.h"

#include <csignal>

namespace partwise {
namespace {

volatile std::sig_atomic_t requested = 0;  // NOLINT: what a signal handler may touch

void request(int signal) {
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

}  // namespace partwise
