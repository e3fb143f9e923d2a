#include "partwise/datasets/import/importers.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"

#include <algorithm>

namespace partwise::datasets {

namespace fs = std::filesystem;

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> formats{
      {"animal-part", "ILSVRC 2013 DET Animal-Part: boxes, heads, front legs, negatives", true,
       plan_animal_part},
      {"voc-part", "PASCAL-Part masks or the authors' part boxes, with VOC 2010 images", true,
       plan_voc_part},
      {"cub200", "CUB-200-2011: boxes and 15 landmarks", false, plan_cub200},
      {"coco", "COCO JSON: boxes, keypoints, part segmentations", false, plan_coco},
      {"folder", "one sub-folder per class, no parts", false, plan_folder},
  };
  return formats;
}

const ImportFormat& import_format(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& format : import_formats()) names.push_back(format.name);
  return import_formats()[index_of_name("format", name, names)];
}

std::vector<bool> chosen(std::span<const Choice> offered, std::span<const std::string> asked) {
  std::vector<bool> wanted(offered.size(), asked.empty());
  std::vector<std::string> names;
  for (const auto& choice : offered) names.push_back(choice.name);
  for (const auto& name : asked) {
    const auto original = std::find_if(offered.begin(), offered.end(),
                                       [&](const auto& choice) { return choice.original == name; });
    const auto index = original != offered.end()
                           ? static_cast<std::size_t>(original - offered.begin())
                           : index_of_name("category", name, names);
    wanted[index] = true;
  }
  return wanted;
}

std::vector<fs::path> files_in(const fs::path& folder, const char* extension) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> files_below(const fs::path& folder, std::vector<Skipped>& skipped) {
  std::vector<fs::path> files;
  const auto leave_out = [&](const fs::path& path, const char* reason) {
    skipped.push_back({kFileElsewhere, path.string(), reason});
  };
  for (auto entry = fs::recursive_directory_iterator(folder);
       entry != fs::recursive_directory_iterator(); ++entry) {
    std::error_code failure;
    if (entry->path().filename().string().starts_with('.')) {
      if (entry->is_directory(failure)) entry.disable_recursion_pending();
      continue;
    }
    const auto status = entry->status(failure);
    if (fs::is_regular_file(status)) {
      files.push_back(entry->path().lexically_relative(folder));
    } else if (!fs::exists(status)) {
      leave_out(entry->path(), "a link that leads nowhere");
    } else if (!fs::is_directory(status)) {
      leave_out(entry->path(), "neither a file nor a folder");
    } else if (entry->is_symlink(failure)) {
      leave_out(entry->path(), "a link to a folder; only links to files are followed here");
    } else if (fs::directory_iterator(entry->path(), failure); failure) {
      leave_out(entry->path(), "a folder that may not be looked into");
      entry.disable_recursion_pending();
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void name_others(const fs::path& folder,
                 const std::set<fs::path>& known,
                 const char* kind,
                 const char* reason,
                 ImportPlan& plan) {
  if (!fs::is_directory(folder)) return;
  std::vector<Skipped> odd;
  for (const auto& file : files_below(folder, odd)) {
    if (!known.contains(file)) plan.skipped.push_back({kind, (folder / file).string(), reason});
  }
  for (const auto& item : odd) {
    if (!known.contains(fs::path(item.name).lexically_relative(folder))) {
      plan.skipped.push_back(item);
    }
  }
}

void plan_negatives(const fs::path& folder, ImportPlan& plan) {
  ensure(fs::is_directory(folder), "{}: expected a folder of images without objects",
         folder.string());
  for (const auto& file : files_below(folder, plan.skipped)) {
    auto& image = plan.images.emplace_back();
    image.source = folder / file;
    image.file_name = (fs::path("images/negatives") / file).string();
    image.stratum = kNegative;
  }
}

}  // namespace partwise::datasets
