#include "partwise/datasets/same_pictures.h"

#include "partwise/base/error.h"

#include <map>
#include <unordered_map>

namespace partwise::datasets {
namespace {

constexpr auto kNoObject = "no object";

struct Shown {
  std::string file;
  std::string category;
};

}  // namespace

std::vector<SamePicture> same_pictures_in_two_classes(const PartDataset& dataset,
                                                      std::span<const std::string> content) {
  expects(content.size() == dataset.images.size(), "one content per image");
  std::unordered_map<int64_t, std::string> names;
  for (const auto& category : dataset.categories) names[category.id] = category.name;
  std::unordered_map<int64_t, std::vector<const Annotation*>> objects;
  for (const auto& object : dataset.annotations) objects[object.image_id].push_back(&object);

  std::vector<SamePicture> found;
  const auto compare = [&](const Shown& first, const Shown& second) {
    // Two objects of one image may share a box: a person's doubt, not a picture that came twice.
    if (first.category != second.category && first.file != second.file)
      found.push_back({first.file, first.category, second.file, second.category});
  };
  std::unordered_map<std::string, Shown> first_image;  // by content: its first object, or none
  std::map<std::string, Shown> first_object;           // by content and box
  for (std::size_t i = 0; i < dataset.images.size(); ++i) {
    if (content[i].empty()) continue;
    const auto& image = dataset.images[i];
    const auto of = objects.find(image.id);
    const bool negative = of == objects.end();
    const Shown shown{image.file_name,
                      negative ? kNoObject : names.at(of->second.front()->category_id)};
    const auto [known, is_new] = first_image.emplace(content[i], shown);
    if (!is_new && negative != (known->second.category == kNoObject)) compare(known->second, shown);
    if (negative) continue;
    for (const auto* object : of->second) {
      const auto& box = object->bbox;
      const auto key =
          fmt::format("{} {} {} {} {}", content[i], box.x, box.y, box.width, box.height);
      const Shown one{image.file_name, names.at(object->category_id)};
      const auto [before, first] = first_object.emplace(key, one);
      if (!first) compare(before->second, one);
    }
  }
  return found;
}

std::string in_words(const SamePicture& picture) {
  return fmt::format("{} ({}) and {} ({})", picture.first_file, picture.first_class,
                     picture.second_file, picture.second_class);
}

}  // namespace partwise::datasets
