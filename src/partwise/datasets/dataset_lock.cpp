#include "partwise/datasets/dataset_lock.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <utility>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

constexpr auto kNextTry = std::chrono::milliseconds(50);

// What exists and is no folder is refused by whoever claims it.
Descriptor opened_folder(const fs::path& folder) {
  std::error_code failure;
  if (!fs::exists(folder, failure)) make_writable_folder(folder);
  return Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

DatasetLock::DatasetLock(const fs::path& folder) : folder_(opened_folder(folder)) {
  const Heeding heeding;
  bool told = false;
  while (folder_.open() && ::flock(folder_.number(), LOCK_EX | LOCK_NB) != 0 &&
         (errno == EWOULDBLOCK || errno == EINTR)) {
    if (!std::exchange(told, true))
      say(fmt::format("{}: another process is writing this dataset; waiting ...", folder.string()));
    if (interrupt_requested()) {
      throw Interrupted(
          fmt::format("{}: interrupted while another process writes it", folder.string()));
    }
    std::this_thread::sleep_for(kNextTry);
  }
}

}  // namespace partwise::datasets
