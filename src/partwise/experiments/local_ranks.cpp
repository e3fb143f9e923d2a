#include "partwise/experiments/local_ranks.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/printable.h"
#include "partwise/tensors/ranks.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace partwise::experiments {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kMark = "PARTWISE_LOCAL_RANK";
constexpr int kLostOthers = 75;
constexpr int kInterrupted = 130;
constexpr auto kGrace = std::chrono::seconds(5);  // to end by itself once another rank failed

struct Rank {
  pid_t process = 0;
  int errors = -1;  // what it says: the reading end, -1 for rank 0 and at its end
  std::string said;
  std::optional<int> status;  // as waitpid gives it
};

std::vector<std::string> environment_of(int rank, int count, int port) {
  const std::vector<std::pair<std::string, std::string>> own{
      {"RANK", std::to_string(rank)},       {"WORLD_SIZE", std::to_string(count)},
      {"LOCAL_RANK", std::to_string(rank)}, {"LOCAL_WORLD_SIZE", std::to_string(count)},
      {"MASTER_ADDR", "127.0.0.1"},         {"MASTER_PORT", std::to_string(port)},
      {"TORCHELASTIC_USE_AGENT_STORE", ""}, {kMark, "1"}};
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const bool replaced = std::any_of(own.begin(), own.end(), [&](const auto& variable) {
      return text.starts_with(variable.first + "=");
    });
    if (!replaced) all.push_back(text);
  }
  for (const auto& [name, value] : own) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

Rank start_rank(int rank, int count, int port, Command command) {
  auto environment = environment_of(rank, count, port);
  const auto argument_pointers = pointers(command.arguments);
  const auto environment_pointers = pointers(environment);
  int ends[2] = {-1, -1};
  const int failure = rank == 0 || ::pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
  ensure(failure == 0, "cannot start rank {}: {}", rank, std::strerror(failure));
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const auto later = all_interrupts();
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  ensure(process >= 0, "cannot start rank {}: {}", rank, std::strerror(errno));
  if (process == 0) {  // only what is safe between fork and exec
    ::setpgid(0, 0);   // a terminal's Ctrl-C comes once, from us
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::sigprocmask(SIG_BLOCK, &later, nullptr);  // until it watches for them itself
    ::signal(SIGTERM, SIG_DFL);  // what we hand on is heard, whatever is ignored here
    if (rank > 0) {
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
    }
    ::execve(command.program.c_str(), argument_pointers.data(), environment_pointers.data());
    ::_exit(127);
  }
  ::close(nowhere);
  if (rank > 0) ::close(ends[1]);
  return {process, ends[0], "", std::nullopt};
}

bool failed(int status) {
  return !WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != kInterrupted);
}

// Waits a moment for something to be said, and notes it.
void listen(std::vector<Rank>& ranks) {
  std::vector<pollfd> ends;
  for (const auto& rank : ranks) ends.push_back({rank.errors, POLLIN, 0});
  ::poll(ends.data(), ends.size(), 50);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ends[i].revents == 0) continue;
    char text[4096];
    const auto size = ::read(ranks[i].errors, text, sizeof(text));
    if (size > 0) {
      ranks[i].said.append(text, static_cast<std::size_t>(size));
    } else {
      ::close(ranks[i].errors);
      ranks[i].errors = -1;
    }
  }
}

void signal_all(const std::vector<Rank>& ranks, int signal) {
  for (const auto& rank : ranks) {
    if (!rank.status) ::kill(rank.process, signal);
  }
}

// The ranks that failed, in the order of their ends.
std::vector<std::size_t> wait_for(std::vector<Rank>& ranks) {
  std::vector<std::size_t> failures;
  std::optional<Clock::time_point> patience_ends;
  bool handed_on = false;
  const auto running = [](const Rank& rank) { return !rank.status || rank.errors >= 0; };
  while (std::any_of(ranks.begin(), ranks.end(), running)) {
    listen(ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i].status) continue;
      int status = 0;
      const auto ended = ::waitpid(ranks[i].process, &status, WNOHANG);
      if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
      ensure(ended > 0, "cannot wait for rank {}: {}", i, std::strerror(errno));
      ranks[i].status = status;
      if (!failed(status)) continue;
      failures.push_back(i);
      if (!patience_ends) patience_ends = Clock::now() + kGrace;
    }
    if (interrupt_requested() && !handed_on) {
      signal_all(ranks, SIGTERM);
      handed_on = true;
    }
    if (patience_ends && Clock::now() > *patience_ends) signal_all(ranks, SIGKILL);
  }
  return failures;
}

std::string complaint_in(const std::string& said) {
  const std::string prefix = "partwise: ";
  const auto line = first_line(said);
  return line.starts_with(prefix) ? line.substr(prefix.size()) : line;
}

// The exit code; says what rank 0 has not said itself.
int verdict(const std::vector<Rank>& ranks, const std::vector<std::size_t>& failures) {
  const auto lost_others = [&](std::size_t rank) {
    return WIFEXITED(*ranks[rank].status) && WEXITSTATUS(*ranks[rank].status) == kLostOthers;
  };
  const auto culprit =
      std::find_if(failures.begin(), failures.end(), [&](auto rank) { return !lost_others(rank); });
  const auto to_blame = culprit == failures.end() ? failures.front() : *culprit;
  const auto& rank = ranks[to_blame];
  const int status = *rank.status;
  if (WIFSIGNALED(status)) {
    throw Error(
        fmt::format("rank {} of {} was ended by signal {} ({}) and the others were stopped; "
                    "--resume goes on from the last checkpoint",
                    to_blame, ranks.size(), WTERMSIG(status), ::strsignal(WTERMSIG(status))));
  }
  if (to_blame > 0 || lost_others(to_blame)) {
    const auto reason = complaint_in(rank.said);
    throw Error(fmt::format("rank {} of {} gave up: {}", to_blame, ranks.size(),
                            reason.empty() ? "it lost the others" : reason));
  }
  return WEXITSTATUS(status);
}

}  // namespace

Command this_command() {
  std::ifstream stream("/proc/self/cmdline", std::ios::binary);
  Command command{"/proc/self/exe", {}};
  for (std::string argument; std::getline(stream, argument, '\0');)
    command.arguments.push_back(argument);
  return command;
}

int run_local_ranks(int count, const Command& command) {
  const Heeding heeding;
  const int port = tensors::free_port();
  std::vector<Rank> ranks;
  for (int rank = 0; rank < count; ++rank) ranks.push_back(start_rank(rank, count, port, command));
  const auto failures = wait_for(ranks);
  if (!failures.empty()) return verdict(ranks, failures);
  return std::any_of(ranks.begin(), ranks.end(),
                     [](const Rank& rank) { return WEXITSTATUS(*rank.status) != 0; })
             ? kInterrupted
             : 0;
}

bool is_local_rank() {
  return std::getenv(kMark) != nullptr;
}

void leave_quietly() {
  std::_Exit(kLostOthers);
}

}  // namespace partwise::experiments
