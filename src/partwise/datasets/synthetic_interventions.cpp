#include "partwise/datasets/synthetic_interventions.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/names.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/datasets/dataset_lock.h"
#include "partwise/formats/json_records.h"
#include "partwise/images/codec.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto kListName = "interventions.json";

const Category& category_of(const PartDataset& dataset, const Annotation& annotation) {
  const auto found =
      std::find_if(dataset.categories.begin(), dataset.categories.end(),
                   [&](const auto& category) { return category.id == annotation.category_id; });
  expects(found != dataset.categories.end(), "no category {}", annotation.category_id);
  return *found;
}

// Each visible part alone, then each pair, in the category's order; then another place.
std::vector<Intervention> changes_of(const Annotation& annotation, const Category& category) {
  std::vector<std::string> visible;
  for (const auto& part : category.parts) {
    if (annotation.parts.contains(part)) visible.push_back(part);
  }
  std::vector<Intervention> changes;
  for (const auto& part : visible) changes.push_back({{part}, false});
  for (std::size_t i = 0; i < visible.size(); ++i) {
    for (std::size_t j = i + 1; j < visible.size(); ++j) {
      changes.push_back({{visible[i], visible[j]}, false});
    }
  }
  changes.push_back({{}, true});
  return changes;
}

std::string changed_file_name(const ImageRecord& image, const Intervention& change) {
  const auto what =
      change.other_background ? "other-background" : "without-" + join(change.without, "-");
  return fmt::format("interventions/{}-{}.png", fs::path(image.file_name).stem().string(), what);
}

// One image to draw.
struct Drawing {
  ChangedImage image;
  SceneKey scene;
};

std::vector<Drawing> drawings_of(const PartDataset& dataset) {
  std::unordered_set<int64_t> held_out;
  if (const auto test = dataset.splits.find("test"); test != dataset.splits.end()) {
    held_out.insert(test->second.begin(), test->second.end());
  }
  std::unordered_map<int64_t, int64_t> index_of_image;
  for (const auto& image : dataset.images) {
    index_of_image.emplace(image.id, static_cast<int64_t>(index_of_image.size()));
  }
  std::vector<Drawing> drawings;
  for (const auto& annotation : dataset.annotations) {
    if (!held_out.contains(annotation.image_id)) continue;
    const int64_t index = index_of_image.at(annotation.image_id);
    const auto scene = scene_of_image(dataset, index);
    const auto& image = dataset.images[static_cast<std::size_t>(index)];
    for (auto& change : changes_of(annotation, category_of(dataset, annotation))) {
      auto name = changed_file_name(image, change);
      drawings.push_back({{std::move(name), image.id, annotation.id, std::move(change)}, scene});
    }
  }
  ensure(!drawings.empty(),
         "{}: its split 'test' holds no animal that could be drawn again; draw a dataset with a "
         "larger --test-share into another folder",
         dataset.root.string());
  return drawings;
}

std::string list_text(const std::vector<Drawing>& drawings) {
  auto list = json::array();
  for (const auto& [image, scene] : drawings) {
    list.push_back({{"file_name", image.file_name},
                    {"image_id", image.image_id},
                    {"annotation_id", image.annotation_id},
                    {"without", image.change.without},
                    {"other_background", image.change.other_background}});
  }
  return json{{"format", kInterventionsFormat},
              {"version", kInterventionsVersion},
              {"interventions", std::move(list)}}
             .dump() +
         "\n";
}

bool is_finished(const PartDataset& dataset,
                 const std::vector<Drawing>& drawings,
                 const std::string& text) {
  return fs::is_regular_file(dataset.root / kListName) &&
         read_file(dataset.root / kListName) == text &&
         std::all_of(drawings.begin(), drawings.end(), [&](const auto& drawing) {
           return fs::is_regular_file(dataset.root / drawing.image.file_name);
         });
}

void draw_all(const PartDataset& dataset, const std::vector<Drawing>& drawings, int threads) {
  make_writable_folder(dataset.root / "interventions");
  const auto count = static_cast<int64_t>(drawings.size());
  const Heeding heeding;
  Progress progress("drawing interventions", count, "images");
  parallel_for(count, threads, [&](int64_t i) {
    if (interrupt_requested()) {
      throw Interrupted(fmt::format("{}: interrupted; run again to complete its interventions",
                                    dataset.root.string()));
    }
    const auto& [image, scene] = drawings[static_cast<std::size_t>(i)];
    write_if_new(dataset.root / image.file_name,
                 images::encode_png(draw_scene(scene, image.change).image));
    progress.advance();
  });
  flush_to_disk(dataset.root);
}

Intervention change_from_json(const json& value,
                              const Category& category,
                              const std::string& place) {
  Intervention change;
  change.without = formats::names_member(value, "without", place);
  for (const auto& part : change.without) {
    ensure(std::find(category.parts.begin(), category.parts.end(), part) != category.parts.end(),
           "{}: without: '{}' has no part '{}' (it has: {})", place, category.name, part,
           join(category.parts));
  }
  ensure(std::set(change.without.begin(), change.without.end()).size() == change.without.size(),
         "{}: without: a part is named twice", place);
  const auto& other = formats::member(value, "other_background", place);
  ensure(other.is_boolean(), "{}: other_background: expected true or false, found {}", place,
         other.type_name());
  change.other_background = other.get<bool>();
  return change;
}

}  // namespace

std::vector<ChangedImage> write_interventions(const PartDataset& dataset, int threads) {
  auto drawings = drawings_of(dataset);
  const auto text = list_text(drawings);
  if (!is_finished(dataset, drawings, text)) {
    const DatasetLock alone(dataset.root);
    draw_all(dataset, drawings, threads);
    write_file_atomically(dataset.root / kListName, text);
  }
  std::vector<ChangedImage> images;
  for (auto& drawing : drawings) images.push_back(std::move(drawing.image));
  return images;
}

std::vector<ChangedImage> read_interventions(const PartDataset& dataset) {
  const auto path = dataset.root / kListName;
  ensure(fs::exists(path),
         "{}: no interventions here ({} is missing); draw them with 'partwise data synth {} "
         "--interventions' and the options of the dataset",
         dataset.root.string(), kListName, dataset.root.string());
  const formats::JsonFile file(path);
  const auto& place = file.place();
  ensure(file.value("format") == kInterventionsFormat, "{}: format is not '{}'", place,
         kInterventionsFormat);
  ensure(file.value("version") == kInterventionsVersion,
         "{}: version {} of the format, this program reads version {}", place,
         file.value("version").dump(), kInterventionsVersion);
  ensure(file.contains("interventions"), "{}: 'interventions' is missing", place);
  std::unordered_map<int64_t, const Annotation*> annotations;
  for (const auto& annotation : dataset.annotations) annotations[annotation.id] = &annotation;
  std::vector<ChangedImage> images;
  file.for_each("interventions", [&](std::string_view, const json& value) {
    const auto here = fmt::format("{}: interventions: {}", place, images.size());
    ChangedImage image;
    image.file_name = formats::text_member(value, "file_name", here);
    image.image_id = formats::integer_member(value, "image_id", here);
    image.annotation_id = formats::integer_member(value, "annotation_id", here);
    ensure_inside(image.file_name, here);
    const auto found = annotations.find(image.annotation_id);
    ensure(found != annotations.end(), "{}: annotation_id: there is no {}", here,
           image.annotation_id);
    ensure(found->second->image_id == image.image_id,
           "{}: image_id: annotation {} belongs to image {}, not {}", here, image.annotation_id,
           found->second->image_id, image.image_id);
    image.change = change_from_json(value, category_of(dataset, *found->second), here);
    images.push_back(std::move(image));
  });
  return images;
}

}  // namespace partwise::datasets
