#include "partwise/datasets/import/image_files.h"

#include <algorithm>

namespace partwise::datasets {

namespace fs = std::filesystem;

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (auto entry = fs::recursive_directory_iterator(folder);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->path().filename().string().starts_with('.')) {
      if (entry->is_directory()) entry.disable_recursion_pending();
      continue;
    }
    if (entry->is_regular_file()) files.push_back(entry->path().lexically_relative(folder));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace partwise::datasets
