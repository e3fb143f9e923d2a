#pragma once

#include <filesystem>

namespace partwise::runs {

// Held by whoever trains a run: a second one gets an Error instead of writing between the first
// one's checkpoints. The lock lies on the folder itself and the kernel drops it with its holder, so
// a killed training leaves nothing to clean up. Where a file system knows no such locks, there is
// none.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace partwise::runs
