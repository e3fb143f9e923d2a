#include "partwise/datasets/import/doubts.h"

#include "partwise/base/names.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace partwise::datasets {
namespace {

// "a has", "a, b have", "a, b, c and 7 more have"
std::string names_with_verb(std::span<const std::string> names) {
  constexpr std::size_t kNamed = 5;
  const auto shown = join(names.first(std::min(names.size(), kNamed)));
  if (names.size() > kNamed)
    return fmt::format("{} and {} more have", shown, names.size() - kNamed);
  return shown + (names.size() == 1 ? " has" : " have");
}

std::vector<std::string> without_training_images(const PartDataset& dataset) {
  const auto train = dataset.splits.find("train");
  std::unordered_set<int64_t> training;
  if (train != dataset.splits.end()) training.insert(train->second.begin(), train->second.end());
  std::unordered_set<int64_t> trained;
  for (const auto& object : dataset.annotations) {
    if (training.contains(object.image_id)) trained.insert(object.category_id);
  }
  std::vector<std::string> names;
  for (const auto& category : dataset.categories) {
    if (!trained.contains(category.id)) names.push_back(category.name);
  }
  return names;
}

// "": there are test images.
std::string doubt_of_test_images(const PartDataset& dataset) {
  std::string others;
  for (const auto& [name, images] : dataset.splits) {
    if (images.empty()) continue;
    if (name == "test") return "";
    if (name != "train") others = name;
  }
  if (!others.empty()) return fmt::format("no test images; measure with --split {}", others);
  return "no test images: nothing is held out to measure on; add a folder test, or more images per "
         "class";
}

}  // namespace

std::vector<std::string> doubts_about(const PartDataset& dataset,
                                      const ImportPlan& plan,
                                      std::span<const std::string> empty,
                                      std::span<const SamePicture> same) {
  constexpr std::size_t kNamed = 3;
  auto doubts = plan.notes;
  if (!empty.empty())
    doubts.push_back(names_with_verb(empty) + " no objects: the dataset has no such category");
  if (const auto names = without_training_images(dataset); !names.empty())
    doubts.push_back(names_with_verb(names) + " no training images");
  for (const auto& picture : same.first(std::min(same.size(), kNamed)))
    doubts.push_back("the same picture in two classes: " + in_words(picture));
  if (same.size() > kNamed)
    doubts.push_back(
        fmt::format("and {} more; `partwise data check` names all of them", same.size() - kNamed));
  if (auto doubt = doubt_of_test_images(dataset); !doubt.empty())
    doubts.push_back(std::move(doubt));
  return doubts;
}

}  // namespace partwise::datasets
