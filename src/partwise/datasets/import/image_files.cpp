#include "partwise/datasets/import/image_files.h"

#include "partwise/base/error.h"

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

void plan_negatives(const fs::path& folder, ImportPlan& plan) {
  ensure(fs::is_directory(folder), "{}: expected a folder of images without objects",
         folder.string());
  for (const auto& file : files_below(folder)) {
    PlannedImage image;
    image.source = folder / file;
    image.file_name = (fs::path("images/negatives") / file).string();
    image.stratum = kNegative;
    plan.images.push_back(std::move(image));
  }
}

}  // namespace partwise::datasets
