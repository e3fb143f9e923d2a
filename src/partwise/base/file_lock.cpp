#include "partwise/base/file_lock.h"

#include "partwise/base/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>

namespace partwise {

FileLock::FileLock(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  ensure(file_.open(), "{}: cannot be written ({}); make its folder writable", file.string(),
         std::strerror(errno));
  while (::flock(file_.number(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

}  // namespace partwise
