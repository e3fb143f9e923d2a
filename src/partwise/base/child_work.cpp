#include "partwise/base/child_work.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace partwise {
namespace {

// None that a library or a sanitizer would choose.
enum ExitCode { kDone = 80, kComplained = 81, kOutOfMemory = 82 };

constexpr std::size_t kLongestReport = 4096;
constexpr std::size_t kSmallPieces = std::size_t{1} << 16U;
constexpr int kGlance = 50;  // milliseconds between two looks at whether to stop

void limit(__rlimit_resource_t resource, std::size_t most) {
  const rlimit both{most, most};
  setrlimit(resource, &both);
}

// Of virtual memory, since that is what can be limited: LibTorch alone has gigabytes.
std::size_t memory_in_use() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void confine(const ChildLimits& limits, pid_t parent) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM})
    std::signal(signal, SIG_DFL);
  for (const int signal : kInterrupts)
    if (!is_ignored(signal)) std::signal(signal, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kDone);  // it died before
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, limits.handed);
  limit(RLIMIT_AS, memory_in_use() + limits.memory);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

[[noreturn]] void complain_and_exit(int handed, std::string_view complaint) {
  const bool told = ftruncate(handed, 0) == 0 && write_all(handed, complaint, 0) == 0;
  _exit(told ? kComplained : kOutOfMemory);
}

[[noreturn]] void work_and_exit(const std::string& name,
                                int handed,
                                const std::function<void(const HandOver&)>& work,
                                const ChildLimits& limits,
                                pid_t parent) {
  confine(limits, parent);
  try {
    std::string small;  // pieces that wait for more
    uint64_t written = 0;
    const auto write = [&](std::string_view piece) {
      if (const int failure = write_all(handed, piece, written); failure != 0)
        complain_and_exit(handed, fmt::format("{}: what is in it cannot be kept in memory: {}",
                                              name, std::strerror(failure)));
      written += piece.size();
    };
    work([&](std::string_view piece) {
      if (small.size() + piece.size() <= kSmallPieces) {
        small += piece;
        return;
      }
      write(small);
      small.clear();
      write(piece);
    });
    write(small);
    _exit(kDone);
  } catch (const std::bad_alloc&) {
    _exit(kOutOfMemory);
  } catch (const Error& error) {
    complain_and_exit(handed, error.what());
  } catch (...) {
    std::abort();
  }
}

class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() {
    if (id_ < 0) return;
    ::kill(id_, SIGKILL);
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // How it ended; nothing while it works.
  std::optional<int> ended() {
    int status = 0;
    const auto found = waitpid(id_, &status, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR)) return std::nullopt;
    id_ = -1;  // its number may be another's soon
    ensure(found > 0, "cannot wait for a process: {}", std::strerror(errno));
    return status;
  }

 private:
  pid_t id_;
};

// How the child ended. `alive` is closed at its end.
int awaited(const std::string& name, Child& child, int alive, double seconds) {
  const auto began = std::chrono::steady_clock::now();
  bool closed = false;
  for (;;) {
    if (const auto status = child.ended()) return *status;
    if (interrupt_requested()) throw Interrupted("interrupted while reading a file");
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    ensure(taken.count() <= seconds,
           "{}: given up after {:g} s: damaged, or on a slow disk (then copy it to a faster one)",
           name, seconds);
    pollfd wait{closed ? -1 : alive, 0, 0};
    closed = ::poll(&wait, 1, closed ? 1 : kGlance) > 0 || closed;
  }
}

}  // namespace

std::optional<FileBytes> done_by_child(const std::string& name,
                                       const std::function<void(const HandOver&)>& work,
                                       const ChildLimits& limits) {
  const Descriptor handed(memfd_create("partwise", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ensure(handed.open(), "cannot share memory with a process: {}", std::strerror(errno));
  int ends[2];
  const int failure = ::pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
  ensure(failure == 0, "cannot make a pipe: {}", std::strerror(failure));
  const Descriptor alive(ends[0]);
  std::optional<Descriptor> kept(ends[1]);
  const pid_t parent = getpid();
  const pid_t id = fork();
  ensure(id >= 0, "cannot start a process: {}", std::strerror(errno));
  if (id == 0) work_and_exit(name, handed.number(), work, limits, parent);
  Child child(id);
  kept.reset();
  const int status = awaited(name, child, alive.number(), limits.seconds);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (std::find(std::begin(kInterrupts), std::end(kInterrupts), signal) != std::end(kInterrupts))
    throw Interrupted("interrupted while reading a file");
  ensure(signal != SIGKILL, "{}: reading it was killed; is the machine out of memory?", name);
  if (!WIFEXITED(status)) return std::nullopt;
  // Whatever became of the child: from here on nothing changes the bytes.
  const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
  if (::fcntl(handed.number(), F_ADD_SEALS, seals) != 0) return std::nullopt;
  auto bytes = map_file(fmt::format("/proc/self/fd/{}", handed.number()));
  bytes.name = name;
  switch (WEXITSTATUS(status)) {
    case kDone:
      return bytes;
    case kComplained:
      throw Error(bytes.bytes.substr(0, kLongestReport));
    case kOutOfMemory:
      throw Error(fmt::format("{}: too large: reading it takes more memory than {} MB", name,
                              limits.memory >> 20U));
    default:
      return std::nullopt;
  }
}

}  // namespace partwise
