#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/datasets/import/importers.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

constexpr auto kTrainSplit = "train";

std::set<std::string> folders_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    std::error_code failure;  // a link that leads to itself
    if (entry.is_directory(failure) && !name.starts_with('.')) names.insert(name);
  }
  return names;
}

std::string in_small_letters(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

bool means_negatives(const std::string& name) {
  return in_small_letters(name) == "negatives";
}

// The split that a folder of this name holds; "": none.
std::string split_called(const std::string& name) {
  static const std::map<std::string, std::string> known{
      {"train", kTrainSplit},  {"training", kTrainSplit},    {"val", "val"},
      {"valid", "validation"}, {"validation", "validation"}, {"test", "test"},
      {"testing", "test"}};
  const auto found = known.find(in_small_letters(name));
  return found == known.end() ? "" : found->second;
}

struct Side {
  fs::path folder;
  std::optional<bool> train;
  std::string split;
  bool has_classes = true;  // else negatives alone: what else lies there are other sides
};

// The source itself, or the folders of its own split: `train` with classes below it (else it is a
// class of trains), and others of these names. Of anything else beside them nobody could say what
// it is, nor what val and test without train are.
std::vector<Side> sides_of(const fs::path& source) {
  std::vector<std::string> splits;
  std::vector<std::string> others;
  bool divided = false;
  for (const auto& name : folders_in(source)) {
    if (means_negatives(name)) continue;
    const auto split = split_called(name);
    (split.empty() ? others : splits).push_back(name);
    divided = divided || (split == kTrainSplit && !folders_in(source / name).empty());
  }
  if (!divided) {
    const bool trains = splits.size() == 1 && split_called(splits.front()) == kTrainSplit;
    ensure(!others.empty() || splits.empty() || trains,
           "{}: has {}/ but no train/ with classes in it; call the folder of the training images "
           "train, or, if these are classes, move them into a folder train",
           source.string(), join(splits, "/, "));
    return {{source, std::nullopt, ""}};
  }
  ensure(others.empty(),
         "{}: has train/ with classes in it, and {}/ beside it, which is neither train, val, "
         "validation, test nor negatives; move it into one of them, or out of here",
         source.string(), others.empty() ? "" : others.front());
  std::vector<Side> sides;
  for (const auto& name : splits) {
    const auto split = split_called(name);
    sides.push_back({source / name, split == kTrainSplit, split});
  }
  sides.push_back({source, std::nullopt, "", false});
  return sides;
}

void name_strays(const fs::path& folder, ImportPlan& plan) {
  std::map<fs::path, const char*> strays;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code failure;
    const auto status = entry.status(failure);
    if (fs::is_directory(status) || entry.path().filename().string().starts_with('.')) continue;
    strays[entry.path()] =
        fs::exists(status) ? "it lies in no class folder" : "a link that leads nowhere";
  }
  for (const auto& [stray, reason] : strays)
    plan.skipped.push_back({kFileElsewhere, stray.string(), reason});
}

void plan_class(const Side& side,
                const fs::path& source,
                const std::string& name,
                int64_t category,
                ImportPlan& plan) {
  std::error_code failure;
  if (!fs::is_directory(side.folder / name, failure)) return;
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

// The first folder from this one downwards that holds several; links are not followed.
std::optional<fs::path> first_fork(fs::path folder) {
  for (;;) {
    auto names = folders_in(folder);
    std::erase_if(names, [&](const auto& name) { return fs::is_symlink(folder / name); });
    if (names.size() > 1) return folder;
    if (names.empty()) return std::nullopt;
    folder /= *names.begin();
  }
}

// A person who gives the folder above the one that was meant gets one class of everything.
void doubt_single_class(const std::vector<Side>& sides, const std::string& name, ImportPlan& plan) {
  const auto found = fmt::format("only one class, '{}', was found", name);
  for (const auto& side : sides) {
    std::error_code failure;
    if (!side.has_classes || !fs::is_directory(side.folder / name, failure)) continue;
    if (const auto fork = first_fork(side.folder / name)) {
      plan.notes.push_back(fmt::format("{}; was a folder below it meant? {} holds {} folders",
                                       found, fork->string(), folders_in(*fork).size()));
      return;
    }
  }
  const bool negatives = std::any_of(plan.images.begin(), plan.images.end(),
                                     [](const auto& image) { return image.stratum == kNegative; });
  if (!negatives) plan.notes.push_back(found + "; expected one sub-folder per class, or negatives");
}

}  // namespace

ImportPlan plan_folder(const fs::path& source, std::span<const std::string> asked) {
  ensure(fs::is_directory(source), "{}: expected a folder with one sub-folder per class",
         source.string());
  const auto sides = sides_of(source);
  std::set<std::string> names;
  for (const auto& side : sides) {
    if (side.has_classes) names.merge(folders_in(side.folder));
  }
  std::erase_if(names, means_negatives);
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
  for (const auto& side : sides) {
    for (const auto& name : folders_in(side.folder)) {
      if (means_negatives(name)) plan_class(side, source, name, kNegative, plan);
    }
  }
  if (offered.size() == 1) doubt_single_class(sides, offered.front().name, plan);
  return plan;
}

}  // namespace partwise::datasets
