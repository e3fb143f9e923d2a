#include "partwise/runs/run_lock.h"

#include "partwise/base/error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace partwise::runs {

RunLock::RunLock(const std::filesystem::path& run)
    : descriptor_(::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const bool taken =
      descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (taken) ::close(descriptor_);
  ensure(!taken, "{}: another process is training this run; wait for it, or choose another folder",
         run.string());
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace partwise::runs
