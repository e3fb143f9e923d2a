#include "partwise/runs/run_list.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>

namespace partwise::runs {
namespace {

namespace fs = std::filesystem;

bool is_run(const fs::path& folder) {
  std::error_code gone;
  return fs::is_regular_file(folder / "options.json", gone);
}

std::string text_of(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

ListedRun listed(const fs::path& path) {
  ListedRun one;
  one.path = path;
  try {
    const auto run = RunFolder::open(path);
    one.net = text_of(run.options(), "net");
    one.arm = text_of(run.options(), "arm");
    one.task = text_of(run.options(), "task");
    one.created = text_of(run.manifest(), "created");
    one.data = text_of(run.manifest(), "data");
    const auto epochs = run.options().find("epochs");
    if (epochs != run.options().end() && epochs->is_number_integer()) one.epochs_wanted = *epochs;
    one.epochs = std::ssize(run.log());
    one.is_training = is_training(path);
  } catch (const Error& problem) {
    one.problem = problem.what();
  }
  return one;
}

}  // namespace

std::vector<ListedRun> list_runs(const fs::path& folder) {
  ensure(fs::is_directory(folder), "{}: no such folder", folder.string());
  std::vector<ListedRun> found;
  if (is_run(folder)) {
    found.push_back(listed(folder));
    return found;
  }
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(folder, options);
       entry != fs::recursive_directory_iterator(); ++entry) {
    std::error_code gone;
    if (!entry->is_directory(gone) || entry->is_symlink(gone)) continue;
    const bool hidden = entry->path().filename().string().starts_with('.');
    if (!hidden && !is_run(entry->path())) continue;
    entry.disable_recursion_pending();
    if (!hidden) found.push_back(listed(entry->path()));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return found;
}

bool is_training(const fs::path& run) {
  const Descriptor folder(::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.open() && ::flock(folder.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace partwise::runs
