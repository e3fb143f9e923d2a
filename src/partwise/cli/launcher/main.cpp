// What people call: it says its version by itself and hands everything else to the program, which
// brings LibTorch along. Loading that takes longer than most answers.
#include <climits>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
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
  sigaddset(&later, SIGHUP);
  sigprocmask(SIG_BLOCK, &later, nullptr);
  char self[PATH_MAX] = "/";  // where /proc is not there
  [[maybe_unused]] const auto length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  const std::filesystem::path place(self);
  int problem = ENOENT;  // the first that says more than that nothing is there
  // Where it is built, and where CMake installs it.
  for (const auto* where : {"libexec/partwise-program", PARTWISE_INSTALLED_PROGRAM}) {
    ::execv((place.parent_path() / where).c_str(), argv);
    if (problem == ENOENT) problem = errno;
  }
  std::fprintf(stderr,
               "partwise: the program that belongs to %s cannot be started (%s); build or install "
               "it again\n",
               place.c_str(), std::strerror(problem));
  return 1;
}
