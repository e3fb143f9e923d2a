#include "partwise/base/folder_claim.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"

#include <algorithm>

namespace partwise {

namespace fs = std::filesystem;

namespace {

bool holds_only_drafts_of(const fs::path& folder, const std::string& mark) {
  return std::all_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [&](const auto& entry) {
                       return entry.path().filename().string().starts_with(mark + ".tmp") &&
                              fs::is_regular_file(entry.symlink_status());
                     });
}

fs::path first_file_in(const fs::path& folder) {
  const fs::directory_iterator files(folder);
  return files == fs::directory_iterator() ? folder : files->path();
}

}  // namespace

void claim_folder(const fs::path& folder,
                  const std::string& mark,
                  const nlohmann::json& object,
                  std::string_view what) {
  if (fs::is_directory(folder) && holds_only_drafts_of(folder, mark)) {
    remove_abandoned_writes(folder);
    ensure(fs::is_empty(folder),
           "{}: another process writes there, or one on another machine was killed writing; if "
           "none does, "
           "remove {}",
           folder.string(), first_file_in(folder).string());
  }
  ensure(!fs::exists(folder) || (fs::is_directory(folder) && fs::is_empty(folder)),
         "{}: exists and is not {}; choose a new or empty folder", folder.string(), what);
  make_writable_folder(folder);
  ensure(write_new_sealed_json(folder / mark, object),
         "{}: another process has just begun {} there; choose another folder, or look at what it "
         "does",
         folder.string(), what);
}

}  // namespace partwise
