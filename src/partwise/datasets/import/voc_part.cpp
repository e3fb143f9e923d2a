#include "partwise/base/error.h"
#include "partwise/datasets/import/importers.h"
#include "partwise/datasets/import/truth_file.h"
#include "partwise/datasets/import/voc_merges.h"
#include "partwise/datasets/regions.h"
#include "partwise/formats/matlab.h"

#include <algorithm>
#include <map>
#include <set>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;
using Pixels = std::vector<uint8_t>;

// The raw part that truth_partNN.mat of a class describes, found by comparing the files with the
// masks; the authors' higher numbers are not known to us and not read.
std::string raw_part(const std::string& voc_class, int64_t number) {
  if (number <= 3) return std::vector<std::string>{"head", "neck", "torso"}.at(number - 1);
  if (number == 4 && voc_class == "bird") return "beak";
  if (number == 4 && voc_class == "cat") return "nose";
  return "";
}

constexpr int64_t kTruthFiles = 4;

fs::path image_folder(const fs::path& source) {
  for (const auto* place : {"JPEGImages", "VOC2010/JPEGImages", "VOCdevkit/VOC2010/JPEGImages"}) {
    if (fs::is_directory(source / place)) return source / place;
  }
  throw Error(fmt::format(
      "{}: no JPEGImages here; unpack VOC 2010 beside Annotations_Part (docs/datasets.md)",
      source.string()));
}

// An image's size, and the file to name when a mask does not have it.
struct Frame {
  int64_t width = 0;
  int64_t height = 0;
  std::string file;

  [[nodiscard]] Pixels mask(const formats::MatlabRecord& value) const {
    ensure(value.columns() == width && value.rows() == height,
           "{}: a mask of {} x {} on an image of {} x {}", file, value.columns(), value.rows(),
           width, height);
    return value.mask();
  }
};

void unite(Pixels& target, const Pixels& more) {
  if (target.empty()) target.resize(more.size(), 0);
  std::transform(target.begin(), target.end(), more.begin(), target.begin(), std::bit_or<>());
}

Point centre_of(const Box& box) {
  return {box.x + box.width / 2.0, box.y + box.height / 2.0};
}

void add_parts(Annotation& object,
               const formats::MatlabRecord& parts,
               const std::string& voc_class,
               const Frame& frame,
               std::vector<std::string>& lost) {
  const auto landmarks = voc_landmarks(voc_class);
  std::map<std::string, Pixels> merged;
  for (int64_t i = 0; i < parts.count(); ++i) {
    const auto raw = parts.field("part_name", i).text();
    const auto pixels = frame.mask(parts.field("mask", i));
    const auto box = box_around(pixels, frame.width, frame.height);
    if (!box) {
      lost.push_back(fmt::format("{}: part {} has an empty mask", frame.file, raw));
      continue;
    }
    if (std::find(landmarks.begin(), landmarks.end(), raw) != landmarks.end()) {
      object.landmarks[raw].push_back(centre_of(*box));
    }
    if (const auto part = merged_part(voc_class, raw)) unite(merged[*part], pixels);
  }
  for (const auto& [name, pixels] : merged) {
    object.parts[name] = {box_around(pixels, frame.width, frame.height),
                          encode_mask(pixels, frame.width, frame.height)};
  }
}

// The objects of one Annotations_Part/*.mat: silhouette, its box, merged parts and landmarks.
// `category_ids` has the classes asked for; others are passed over. A mask that is not as large as
// the image is an Error.
Objects read_voc_masks(const fs::path& file,
                       const std::map<std::string, int64_t>& category_ids,
                       int64_t width,
                       int64_t height) {
  const Frame frame{width, height, file.string()};
  const auto annotation = formats::read_matlab(file, "anno");
  const auto& found = annotation.field("objects");
  Objects objects;
  for (int64_t i = 0; i < found.count(); ++i) {
    const auto voc_class = found.field("class", i).text();
    const auto category = category_ids.find(voc_class);
    if (category == category_ids.end()) continue;
    const auto silhouette = frame.mask(found.field("mask", i));
    const auto box = box_around(silhouette, width, height);
    if (!box) {
      objects.unusable.push_back(fmt::format("{}: object {} has an empty mask", frame.file, i + 1));
      continue;
    }
    Annotation object;
    object.category_id = category->second;
    object.bbox = *box;
    object.segmentation = encode_mask(silhouette, width, height);
    add_parts(object, found.field("parts", i), voc_class, frame, objects.lost);
    objects.annotations.push_back(std::move(object));
  }
  return objects;
}

// The authors divide by xmax - xmin, so 0 is the first pixel and 224 the last one: this undoes it.
// Gives pixels counted from 1.
Point pixel_from_crop(Point crop, const InclusiveBox& box) {
  return {box.xmin + crop.x * (box.xmax - box.xmin) / kTruthSide,
          box.ymin + crop.y * (box.ymax - box.ymin) / kTruthSide};
}

Box region_box(const CropRegion& region, const InclusiveBox& box) {
  const auto& [centre, width, height] = region;
  const auto first = pixel_from_crop({centre.x - width / 2.0, centre.y - height / 2.0}, box);
  const auto last = pixel_from_crop({centre.x + width / 2.0, centre.y + height / 2.0}, box);
  return {first.x - 1.0, first.y - 1.0, last.x - first.x + 1.0, last.y - first.y + 1.0};
}

// One object put together from the truth files of its class.
struct BoxedObject {
  int64_t category = 0;
  std::string voc_class;
  std::string file_name;
  InclusiveBox box;
  std::map<std::string, std::vector<CropRegion>> raw_parts;
};

Annotation annotation_of(const BoxedObject& object, int64_t width, int64_t height) {
  Annotation annotation;
  annotation.category_id = object.category;
  annotation.bbox = box_from_inclusive(object.box);
  const auto landmarks = voc_landmarks(object.voc_class);
  std::map<std::string, std::vector<Box>> merged;
  for (const auto& [raw, instances] : object.raw_parts) {
    const bool landmark = std::find(landmarks.begin(), landmarks.end(), raw) != landmarks.end();
    const auto part = merged_part(object.voc_class, raw);
    for (const auto& instance : instances) {
      const auto box = region_box(instance, object.box);
      if (landmark) annotation.landmarks[raw].push_back(centre_of(box));
      if (part) merged[*part].push_back(box);
    }
  }
  for (const auto& [part, boxes] : merged) {
    annotation.parts[part] = region_of_boxes(boxes, width, height);
  }
  return annotation;
}

std::vector<BoxedObject> read_boxed_objects(const fs::path& source,
                                            const std::string& voc_class,
                                            int64_t category,
                                            ImportPlan& plan) {
  std::vector<BoxedObject> objects;
  for (int64_t number = 1; number <= kTruthFiles; ++number) {
    const auto place = fmt::format("truth/{}/truth_part{:02}.mat", voc_class, number);
    const auto file = source / place;
    const auto raw = raw_part(voc_class, number);
    if (raw.empty() || !fs::exists(file)) continue;
    plan.truth_files[place] = file;
    const auto records = read_truth_file(file);
    ensure(objects.empty() || objects.size() == records.size(),
           "{}: describes {} objects, the files before it {}", file.string(), records.size(),
           objects.size());
    objects.resize(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      auto& object = objects[i];
      object.category = category;
      object.voc_class = voc_class;
      if (records[i].box) {
        object.file_name = fs::path(records[i].file_name).filename().string();
        object.box = *records[i].box;
      }
      if (!records[i].instances.empty()) object.raw_parts[raw] = records[i].instances;
    }
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].file_name.empty()) {
      plan.skipped.push_back({kObjectUnusable, fmt::format("truth/{}: object {}", voc_class, i + 1),
                              "no truth file says which image shows it"});
    }
  }
  return objects;
}

// Every image once, with all its objects, in the order of the truth files.
void plan_boxed_objects(const std::vector<BoxedObject>& objects,
                        const fs::path& images,
                        const std::set<std::string>& with_masks,
                        ImportPlan& plan) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<BoxedObject>> by_image;
  for (const auto& object : objects) {
    if (object.file_name.empty() || with_masks.contains(object.file_name)) continue;
    auto& members = by_image[object.file_name];
    if (members.empty()) order.push_back(object.file_name);
    members.push_back(object);
  }
  for (const auto& name : order) {
    const auto& members = by_image[name];
    auto& image = plan.images.emplace_back();
    image.source = images / name;
    image.file_name = "images/" + name;
    image.stratum = members.front().category;
    image.objects = [members](int64_t width, int64_t height) {
      Objects found;
      for (const auto& object : members) {
        found.annotations.push_back(annotation_of(object, width, height));
      }
      return found;
    };
  }
}

}  // namespace

ImportPlan plan_voc_part(const fs::path& source, std::span<const std::string> asked) {
  const auto masks = files_in(source / "Annotations_Part", ".mat");
  const bool boxes = fs::is_directory(source / "truth");
  ensure(!masks.empty() || boxes, "{}: neither Annotations_Part/*.mat nor truth/ is here",
         source.string());
  const auto images = image_folder(source);

  ImportPlan plan;
  std::vector<Choice> offered;
  for (const auto& name : voc_classes()) offered.push_back({name, name});
  const auto wanted = chosen(offered, asked);
  std::map<std::string, int64_t> category_ids;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    if (!wanted[i]) continue;
    const auto& name = offered[i].name;
    const auto landmarks = voc_landmarks(name);
    category_ids[name] = static_cast<int64_t>(i) + 1;
    plan.categories.push_back(
        {category_ids[name], name, merged_parts(name), {landmarks.begin(), landmarks.end()}});
  }

  std::set<std::string> with_masks;
  for (const auto& file : masks) {
    const auto name = file.stem().string() + ".jpg";
    with_masks.insert(name);
    plan.truth_files["Annotations_Part/" + file.filename().string()] = file;
    auto& image = plan.images.emplace_back();
    image.source = images / name;
    image.file_name = "images/" + name;
    image.objects = [file, category_ids](int64_t width, int64_t height) {
      return read_voc_masks(file, category_ids, width, height);
    };
  }
  std::vector<BoxedObject> objects;
  for (const auto& [name, id] : category_ids) {
    const auto more = read_boxed_objects(source, name, id, plan);
    objects.insert(objects.end(), more.begin(), more.end());
  }
  plan_boxed_objects(objects, images, with_masks, plan);
  std::set<fs::path> annotated;
  for (const auto& image : plan.images) annotated.insert(image.source.filename());
  // VOC itself has more images than PASCAL-Part annotates.
  name_others(images, annotated, kNothingChosen, "no annotation of a chosen category names it",
              plan);
  return plan;
}

}  // namespace partwise::datasets
