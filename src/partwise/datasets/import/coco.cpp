#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/datasets/import/importers.h"
#include "partwise/datasets/regions.h"
#include "partwise/formats/json_records.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;
using formats::coordinate_value;
using formats::integer_member;
using formats::integer_value;
using formats::JsonFile;
using formats::list_member;
using formats::names_member;
using formats::object_member;
using formats::text_member;
using nlohmann::json;

constexpr int64_t kLargestId = int64_t{1} << 53U;

fs::path annotation_file(const fs::path& source) {
  if (fs::is_regular_file(source)) return source;
  auto files = files_in(source, ".json");
  if (files.empty()) files = files_in(source / "annotations", ".json");
  ensure(!files.empty(), "{}: no *.json here or in annotations/", source.string());
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const auto& file : files) names.push_back(file.filename().string());
  ensure(files.size() == 1, "{}: several annotation files; name one of them: {}", source.string(),
         join(names));
  return files.front();
}

// Where the images of an annotation file may lie, nearest first.
std::vector<fs::path> image_places(const fs::path& file) {
  const auto here = fs::absolute(file).parent_path();
  std::vector<fs::path> places{here, here / "images"};
  const auto above = here.parent_path();
  if (here.filename() != "annotations") return places;
  places.push_back(above);
  for (const auto& entry : fs::directory_iterator(above)) {
    std::error_code failure;
    if (entry.is_directory(failure)) places.push_back(entry.path());
  }
  std::sort(places.begin() + 2, places.end());
  return places;
}

fs::path find_image(const std::vector<fs::path>& places, const std::string& name) {
  for (const auto& place : places) {
    std::error_code failure;
    if (fs::is_regular_file(place / name, failure)) return place / name;
  }
  return places.front() / name;
}

// An annotation file, mapped while its images are read. Only where its records lie is kept; each is
// parsed again when its image's turn comes.
struct CocoFile {
  explicit CocoFile(const fs::path& path) : records(path), place(records.place()) {}

  JsonFile records;
  std::string place;
  std::map<int64_t, Category> categories;  // all of them; landmarks are keypoints
  std::set<int64_t> wanted;                // ids of those asked for
  std::unordered_set<int64_t> annotated;   // images that show anything
  std::unordered_set<int64_t> objects;     // ids of annotations that are no parts
  std::unordered_map<int64_t, std::vector<std::string_view>> of_image;   // objects
  std::unordered_map<int64_t, std::vector<std::string_view>> of_object;  // parts of one
  std::unordered_map<int64_t, int64_t> stratum;  // of an image: category of its first object
};

RunLengthMask mask_of(const json& value, int64_t width, int64_t height, const std::string& place) {
  if (!value.is_array()) {
    auto mask = mask_from_json(value, place);
    ensure(mask.width == width && mask.height == height,
           "{}: a mask of {} x {} on an image of {} x {}", place, mask.width, mask.height, width,
           height);
    return mask;
  }
  std::vector<uint8_t> pixels(static_cast<std::size_t>(width * height), 0);
  for (const auto& polygon : value) {
    ensure(polygon.is_array() && polygon.size() % 2 == 0, "{}: a polygon is a list of x, y pairs",
           place);
    std::vector<Point> corners;
    for (std::size_t i = 0; i + 1 < polygon.size(); i += 2) {
      corners.push_back(
          {coordinate_value(polygon[i], place), coordinate_value(polygon[i + 1], place)});
    }
    fill_polygon(corners, width, height, pixels);
  }
  return encode_mask(pixels, width, height);
}

std::optional<Box> box_of(const json& annotation, const std::string& place) {
  const auto found = annotation.find("bbox");
  if (found == annotation.end() || !found->is_array() || found->empty()) return std::nullopt;
  ensure(found->size() == 4, "{}: bbox: expected [x, y, width, height]", place);
  const auto& box = *found;
  return Box{coordinate_value(box[0], place), coordinate_value(box[1], place),
             coordinate_value(box[2], place), coordinate_value(box[3], place)};
}

// Box and mask of an annotation or of a part; either may be missing.
PartRegion region_of(const json& value, int64_t width, int64_t height, const std::string& place) {
  PartRegion region;
  region.bbox = box_of(value, place);
  const auto mask = value.find("segmentation");
  if (mask != value.end() && !mask->is_null() && !mask->empty()) {
    region.segmentation = mask_of(*mask, width, height, place);
    if (!region.bbox) {
      region.bbox = box_around(decode_mask(*region.segmentation), width, height);
    }
  }
  return region;
}

// COCO's triples x, y, v; v = 2 is visible.
void add_keypoints(Annotation& object,
                   const json& annotation,
                   const std::vector<std::string>& names,
                   const std::string& place) {
  const auto& values = list_member(annotation, "keypoints", place);
  ensure(values.empty() || values.size() == 3 * names.size(),
         "{}: {} keypoint values, its category names {} keypoints", place, values.size(),
         names.size());
  for (std::size_t i = 0; i < values.size() / 3; ++i) {
    if (coordinate_value(values[3 * i + 2], place) < 2.0) continue;
    object.landmarks[names[i]].push_back(
        {coordinate_value(values[3 * i], place), coordinate_value(values[3 * i + 1], place)});
  }
}

void add_region(Annotation& object,
                const std::string& name,
                const PartRegion& region,
                const std::string& place) {
  ensure(region.bbox || region.segmentation, "{}: part {} has neither bbox nor segmentation", place,
         name);
  const auto [known_part, fresh] = object.parts.emplace(name, region);
  if (fresh) return;
  auto& known = known_part->second;  // a second instance of the part
  if (known.bbox && region.bbox) known.bbox = box_around(*known.bbox, *region.bbox);
  if (known.segmentation && region.segmentation) {
    auto pixels = decode_mask(*known.segmentation);
    const auto more = decode_mask(*region.segmentation);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] |= more[i];
    known.segmentation = encode_mask(pixels, known.segmentation->width, known.segmentation->height);
  } else {
    known.segmentation.reset();
  }
}

std::string annotation_place(const CocoFile& file, const json& annotation) {
  const auto id = annotation.find("id");
  return fmt::format("{}: annotation {}", file.place,
                     id != annotation.end() && id->is_number_integer() ? id->dump() : "without id");
}

// A part that can't be read costs itself only, and is named in `lost`.
template <typename Add>
void try_part(std::vector<std::string>& lost, const Add& add) {
  try {
    add();
  } catch (const Error& problem) {
    lost.emplace_back(problem.what());
  }
}

Annotation object_from(const CocoFile& file,
                       const json& value,
                       int64_t width,
                       int64_t height,
                       std::vector<std::string>& lost) {
  const auto place = annotation_place(file, value);
  Annotation object;
  object.category_id = integer_member(value, "category_id", place);
  const auto whole = region_of(value, width, height, place);
  ensure(whole.bbox.has_value(), "{}: neither bbox nor segmentation", place);
  object.bbox = *whole.bbox;
  object.segmentation = whole.segmentation;
  add_keypoints(object, value, file.categories.at(object.category_id).landmarks, place);
  for (const auto& part : object_member(value, "parts", place).items()) {
    ensure(part.value().is_object(), "{}: parts: {}: expected an object", place, part.key());
    try_part(lost, [&] {
      add_region(object, part.key(), region_of(part.value(), width, height, place), place);
    });
  }
  const auto id = value.find("id");
  if (id == value.end() || !id->is_number_integer()) return object;
  const auto parts = file.of_object.find(integer_value(*id, place));
  if (parts == file.of_object.end()) return object;
  for (const auto text : parts->second) {
    const auto part = file.records.parse(text);
    const auto here = annotation_place(file, part);
    const auto& category = file.categories.at(integer_member(part, "category_id", here));
    try_part(lost, [&] {
      add_region(object, category.name, region_of(part, width, height, here), here);
    });
  }
  return object;
}

Objects objects_of(const CocoFile& file, int64_t image, int64_t width, int64_t height) {
  Objects objects;
  const auto found = file.of_image.find(image);
  if (found == file.of_image.end()) return objects;
  for (const auto text : found->second) {
    try {
      objects.annotations.push_back(
          object_from(file, file.records.parse(text), width, height, objects.lost));
    } catch (const Error& problem) {
      objects.unusable.emplace_back(problem.what());
    }
  }
  return objects;
}

void read_categories(CocoFile& file, std::span<const std::string> asked) {
  std::vector<Choice> offered;
  std::vector<int64_t> ids;
  file.records.for_each("categories", [&](std::string_view, const json& value) {
    const int64_t id = integer_member(value, "id", file.place + ": categories");
    const auto place = fmt::format("{}: category {}", file.place, id);
    const auto name = text_member(value, "name", place);
    const Category category{id, name, names_member(value, "parts", place),
                            names_member(value, "keypoints", place)};
    ensure(file.categories.emplace(id, category).second, "{}: used twice", place);
    offered.push_back({name, name});
    ids.push_back(id);
  });
  ensure(!ids.empty(), "{}: no categories; expected a COCO annotation file", file.place);
  const auto wanted = chosen(offered, asked);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (wanted[i]) file.wanted.insert(ids[i]);
  }
}

// "": an object; otherwise why it is none.
std::string reason_of_crowd(const json& value) {
  const auto crowd = value.find("iscrowd");
  if (crowd == value.end() || crowd->is_null() || *crowd == 0 || *crowd == false) return "";
  if (*crowd == 1 || *crowd == true) return "a crowd, not one object";
  return fmt::format("iscrowd: expected 0 or 1, found {}",
                     crowd->is_number() ? "another number" : crowd->type_name());
}

// Sorts annotations into objects and parts of objects (those that name one in obj_ann_id). An image
// that any of them names shows something, whatever becomes of the annotation.
void read_annotations(CocoFile& file, std::vector<Skipped>& skipped) {
  file.records.for_each("annotations", [&](std::string_view text, const json& value) {
    const auto place = annotation_place(file, value);
    const int64_t category = integer_member(value, "category_id", place);
    const bool known = file.categories.contains(category);
    const auto owner = value.find("obj_ann_id");
    const bool part =
        owner != value.end() && !owner->is_null() && *owner != value.value("id", json());
    if (!part || !value.value("image_id", json()).is_null())
      file.annotated.insert(integer_member(value, "image_id", place));
    if (!known) {
      skipped.push_back({part ? kTruthUnusable : kObjectUnusable, place,
                         fmt::format("category_id: there is no {}", category)});
    }
    if (part) {
      const int64_t object = integer_member(value, "obj_ann_id", place);
      if (known) file.of_object[object].push_back(text);
      return;
    }
    const int64_t image = integer_member(value, "image_id", place);
    if (const auto id = value.find("id"); id != value.end() && id->is_number_integer())
      file.objects.insert(integer_value(*id, place));
    if (!file.wanted.contains(category)) return;
    if (auto reason = reason_of_crowd(value); !reason.empty()) {
      skipped.push_back({kObjectUnusable, place, std::move(reason)});
      return;
    }
    file.of_image[image].push_back(text);
    file.stratum.emplace(image, category);
  });
}

template <typename Map>
std::vector<int64_t> absent_keys(const Map& map, const std::unordered_set<int64_t>& known) {
  std::vector<int64_t> absent;
  for (const auto& [key, texts] : map) {
    if (!known.contains(key)) absent.push_back(key);
  }
  std::sort(absent.begin(), absent.end());
  return absent;
}

// Objects of images, and parts of objects, that the file does not have.
void name_orphans(const CocoFile& file,
                  const std::unordered_set<int64_t>& images,
                  std::vector<Skipped>& skipped) {
  const auto name = [&](const auto& texts, const char* kind, const std::string& reason) {
    for (const auto text : texts)
      skipped.push_back({kind, annotation_place(file, file.records.parse(text)), reason});
  };
  for (const int64_t image : absent_keys(file.of_image, images))
    name(file.of_image.at(image), kObjectUnusable, fmt::format("image_id: there is no {}", image));
  for (const int64_t object : absent_keys(file.of_object, file.objects))
    name(file.of_object.at(object), kTruthUnusable,
         fmt::format("obj_ann_id: there is no {}", object));
}

// Rotated photographs are the usual reason for a mismatch.
void ensure_size(const json& image, int64_t width, int64_t height, const std::string& place) {
  const auto told = [&](const char* key, int64_t actual) {
    return !image.contains(key) || integer_member(image, key, place) == actual;
  };
  ensure(told("width", width) && told("height", height),
         "{}: the file is {} x {} upright, the annotations say {} x {}", place, width, height,
         image.value("width", json()).dump(), image.value("height", json()).dump());
}

}  // namespace

ImportPlan plan_coco(const fs::path& source, std::span<const std::string> asked) {
  const auto path = annotation_file(source);
  const auto file = std::make_shared<CocoFile>(path);
  for (const auto* key : {"categories", "annotations", "images"}) {
    ensure(file->records.contains(key), "{}: '{}' is missing; expected a COCO annotation file",
           file->place, key);
  }
  ImportPlan plan;
  plan.truth_files[""] = path;  // alone, whatever it is called
  read_categories(*file, asked);
  read_annotations(*file, plan.skipped);
  for (const auto& [id, category] : file->categories) {
    if (file->wanted.contains(id)) plan.categories.push_back(category);
  }
  const auto places = image_places(path);
  std::unordered_set<int64_t> seen;
  file->records.for_each("images", [&](std::string_view text, const json& value) {
    const int64_t id = integer_member(value, "id", file->place + ": images");
    const auto place = fmt::format("{}: image {}", file->place, id);
    ensure(id >= 0 && id < kLargestId, "{}: no id a reader of JSON can hold", place);
    ensure(seen.insert(id).second, "{}: used twice", place);
    const auto name = fs::path(text_member(value, "file_name", place)).lexically_normal().string();
    const auto stratum = file->stratum.find(id);
    const bool negative = !file->annotated.contains(id);
    if (!negative && stratum == file->stratum.end()) {
      plan.skipped.push_back({kNothingChosen, (fs::path("images") / name).string(),
                              "it shows a crowd, or nothing that was chosen"});
      return;
    }
    auto& image = plan.images.emplace_back();
    image.id = id;
    image.source = find_image(places, name);
    image.file_name = (fs::path("images") / name).string();
    image.stratum = negative ? kNegative : stratum->second;
    if (negative) return;
    image.objects = [file, text, id, place](int64_t width, int64_t height) {
      ensure_size(file->records.parse(text), width, height, place);
      return objects_of(*file, id, width, height);
    };
  });
  name_orphans(*file, seen, plan.skipped);
  return plan;
}

}  // namespace partwise::datasets
