#pragma once

#include "partwise/base/files.h"

namespace partwise {

// Waits until nobody else, in this process or another, holds the lock of this file, then holds it
// to the end of its life. The file is made where there is none and stays; the kernel drops the lock
// with its holder. Where a file system knows no such locks, there is none.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& file);

 private:
  Descriptor file_;
};

}  // namespace partwise
