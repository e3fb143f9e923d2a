// What people call: it says its version by itself and hands everything else to the program, which
// brings LibTorch along. Loading that takes longer than most answers.
#include <climits>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {

int say_version() {
  if (std::puts(PARTWISE_VERSION_TEXT) >= 0 && std::fflush(stdout) == 0) return 0;
  std::fputs("partwise: the output is lost: standard output cannot be written\n", stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) return say_version();
  // Whoever presses Ctrl-C while libraries are loaded is answered when they are.
  sigset_t later;
  sigemptyset(&later);
  sigaddset(&later, SIGINT);
  sigaddset(&later, SIGTERM);
  sigprocmask(SIG_BLOCK, &later, nullptr);
  char self[PATH_MAX] = {};
  const auto length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  const std::string place(self, length > 0 ? static_cast<std::size_t>(length) : 0);
  const auto folder = place.substr(0, place.rfind('/'));
  // Where it is built, and where it is installed.
  for (const auto* where : {"/libexec/partwise-program", "/../libexec/partwise/partwise-program"})
    ::execv((folder + where).c_str(), argv);
  std::fprintf(stderr, "partwise: the program is not beside %s (%s); build or install it again\n",
               place.c_str(), std::strerror(errno));
  return 1;
}
