#include "partwise/base/error.h"
#include "partwise/datasets/import/importers.h"

#include <map>
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
  std::string split;
  bool has_classes = true;  // else negatives alone: what else lies there are other sides
};

// The source itself, or the folders of its own split: `train` with classes below it (else it is a
// class of trains), and others of these names. Of anything else beside them nobody could say what
// it is.
std::vector<Side> sides_of(const fs::path& source) {
  const auto names = folders_in(source);
  if (!names.contains("train") || folders_in(source / "train").empty())
    return {{source, std::nullopt, ""}};
  const std::map<std::string, std::string> known{{"train", "train"},
                                                 {"val", "val"},
                                                 {"valid", "validation"},
                                                 {"validation", "validation"},
                                                 {"test", "test"}};
  std::vector<Side> sides;
  for (const auto& name : names) {
    if (name == kNegatives) continue;
    const auto split = known.find(name);
    ensure(split != known.end(),
           "{}: has train/ with classes in it, and {}/ beside it, which is neither train, val, "
           "validation, test nor negatives; move it into one of them, or out of here",
           source.string(), name);
    sides.push_back({source / name, name == "train", split->second});
  }
  if (names.contains(kNegatives)) sides.push_back({source, std::nullopt, "", false});
  return sides;
}

void name_strays(const fs::path& folder, ImportPlan& plan) {
  std::set<fs::path> strays;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code failure;
    if (entry.is_directory(failure) || entry.path().filename().string().starts_with('.')) continue;
    strays.insert(entry.path());
  }
  for (const auto& stray : strays)
    plan.skipped.push_back({kFileElsewhere, stray.string(), "it lies in no class folder"});
}

void plan_class(const Side& side,
                const fs::path& source,
                const std::string& name,
                int64_t category,
                ImportPlan& plan) {
  if (!fs::is_directory(side.folder / name)) return;
  const auto files = files_below(side.folder / name, plan.skipped);
  if (files.empty()) {
    plan.skipped.push_back(
        {kFileElsewhere, (side.folder / name).string(), "a class folder without files"});
  }
  for (const auto& file : files) {
    auto& image = plan.images.emplace_back();
    image.source = side.folder / name / file;
    image.file_name = (fs::path("images") / image.source.lexically_relative(source)).string();
    image.stratum = category;
    image.official_train = side.train;
    image.own_split = side.split;
    if (category != kNegative) {
      image.objects = [category](int64_t width, int64_t height) {
        Annotation whole;
        whole.category_id = category;
        whole.bbox = {0.0, 0.0, static_cast<double>(width), static_cast<double>(height)};
        return Objects{{whole}, {}, {}};
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
  for (const auto& side : sides) {
    if (side.has_classes) names.merge(folders_in(side.folder));
  }
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
    for (const auto& side : sides) {
      if (side.has_classes) plan_class(side, source, offered[i].name, id, plan);
    }
  }
  for (const auto& side : sides) name_strays(side.folder, plan);
  for (const auto& side : sides) plan_class(side, source, kNegatives, kNegative, plan);
  return plan;
}

}  // namespace partwise::datasets
