#pragma once

#include "partwise/base/files.h"

namespace partwise::datasets {

// One process at a time writes a dataset: waits, and says so, until nobody else, in this process or
// another, holds the folder, then holds it to the end of its life. A folder that is not there is
// made. The lock lies on the folder itself and the kernel drops it with its holder, so nothing is
// left in it. Where a file system knows no such locks, there is none. Interrupted while waiting.
class DatasetLock {
 public:
  explicit DatasetLock(const std::filesystem::path& folder);

 private:
  Descriptor folder_;
};

}  // namespace partwise::datasets
