#pragma once

#include "partwise/base/files.h"

#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace partwise {

// Leaves what a process leaves that is killed while it writes `target`.
inline void be_killed_while_writing(const std::filesystem::path& target) {
  const pid_t writer = ::fork();
  if (writer == 0) {
    const StagedFile draft(target);
    ::_exit(0);
  }
  ::waitpid(writer, nullptr, 0);
}

}  // namespace partwise
