#include "partwise/base/rehearsal.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace partwise {
namespace {

[[noreturn]] void rehearse(const std::function<void()>& work, unsigned seconds) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGINT, SIGTERM}) {
    std::signal(signal, SIG_DFL);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  alarm(seconds);
  try {
    work();
  } catch (...) {  // will be thrown again where somebody listens
  }
  _exit(0);
}

}  // namespace

bool survives(const std::function<void()>& work, unsigned seconds) {
  const pid_t child = fork();
  ensure(child >= 0, "cannot start a process: {}", std::strerror(errno));
  if (child == 0) rehearse(work, seconds);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    ensure(errno == EINTR, "cannot wait for a process: {}", std::strerror(errno));
  }
  const bool stopped =
      WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM);
  if (stopped) throw Interrupted("interrupted while reading a file");
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace partwise
