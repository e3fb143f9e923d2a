#include "partwise/base/error.h"
#include "partwise/datasets/import/importers.h"

#include <algorithm>
#include <set>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

constexpr auto kNegatives = "negatives";

std::set<std::string> folders_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (entry.is_directory() && !name.starts_with('.')) names.insert(name);
  }
  return names;
}

struct Side {
  fs::path folder;
  std::optional<bool> train;
};

// The source itself, or its train and test folders where it has these and no others.
std::vector<Side> sides_of(const fs::path& source) {
  const auto names = folders_in(source);
  const std::set<std::string> known{"train", "val", "valid", "validation", "test"};
  const bool divided = names.size() >= 2 && names.contains("train") &&
                       std::includes(known.begin(), known.end(), names.begin(), names.end());
  if (!divided) return {{source, std::nullopt}};
  std::vector<Side> sides;
  sides.reserve(names.size());
  for (const auto& name : names) sides.push_back({source / name, name == "train"});
  return sides;
}

void plan_class(const Side& side,
                const fs::path& source,
                const std::string& name,
                int64_t category,
                ImportPlan& plan) {
  if (!fs::is_directory(side.folder / name)) return;
  for (const auto& file : files_below(side.folder / name)) {
    auto& image = plan.images.emplace_back();
    image.source = side.folder / name / file;
    image.file_name = (fs::path("images") / image.source.lexically_relative(source)).string();
    image.stratum = category;
    image.official_train = side.train;
    if (category != kNegative) {
      image.objects = [category](int64_t width, int64_t height) {
        Annotation whole;
        whole.category_id = category;
        whole.bbox = {0.0, 0.0, static_cast<double>(width), static_cast<double>(height)};
        return Objects{{whole}, {}};
      };
    }
  }
}

}  // namespace

ImportPlan plan_folder(const fs::path& source, std::span<const std::string> asked) {
  ensure(fs::is_directory(source), "{}: expected a folder with one sub-folder a class",
         source.string());
  const auto sides = sides_of(source);
  std::set<std::string> names;
  for (const auto& side : sides) names.merge(folders_in(side.folder));
  names.erase(kNegatives);
  ensure(!names.empty(), "{}: no sub-folder here; expected one per class", source.string());
  std::vector<Choice> offered;
  offered.reserve(names.size());
  for (const auto& name : names) offered.push_back({name, name});
  const auto wanted = chosen(offered, asked);
  ImportPlan plan;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    if (!wanted[i]) continue;
    const auto id = static_cast<int64_t>(i) + 1;
    plan.categories.push_back({id, offered[i].name, {}, {}});
    for (const auto& side : sides) plan_class(side, source, offered[i].name, id, plan);
  }
  for (const auto& side : sides) plan_class(side, source, kNegatives, kNegative, plan);
  return plan;
}

}  // namespace partwise::datasets
