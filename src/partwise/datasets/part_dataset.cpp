#include "partwise/datasets/part_dataset.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/folder_claim.h"
#include "partwise/base/names.h"
#include "partwise/base/printable.h"
#include "partwise/base/removal.h"
#include "partwise/formats/json_records.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>

namespace partwise::datasets {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageRecord, id, file_name, width, height)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Category, id, name, parts, landmarks)

namespace {

namespace fs = std::filesystem;
using formats::coordinate_value;
using formats::integer_member;
using formats::integer_value;
using formats::JsonFile;
using formats::member;
using formats::names_member;
using formats::object_member;
using formats::text_member;
using nlohmann::json;

constexpr int64_t kLargestSide = 100'000;
constexpr int64_t kMostPixels = 100'000'000;

ImageRecord image_from_json(const json& value, std::string_view file) {
  ImageRecord image;
  image.id = integer_member(value, "id", fmt::format("{}: images", file));
  const auto place = fmt::format("{}: image {}", file, image.id);
  image.file_name = text_member(value, "file_name", place);
  image.width = integer_member(value, "width", place);
  image.height = integer_member(value, "height", place);
  ensure_inside(image.file_name, place);
  ensure(image.width > 0 && image.height > 0 && image.width <= kLargestSide &&
             image.height <= kLargestSide && image.width * image.height <= kMostPixels,
         "{}: {} x {} is no image size accepted here", place, image.width, image.height);
  return image;
}

Category category_from_json(const json& value, std::string_view file) {
  Category category;
  category.id = integer_member(value, "id", fmt::format("{}: categories", file));
  const auto place = fmt::format("{}: category {}", file, category.id);
  category.name = text_member(value, "name", place);
  category.parts = names_member(value, "parts", place);
  category.landmarks = names_member(value, "landmarks", place);
  for (const auto* names : {&category.parts, &category.landmarks}) {
    ensure(std::set(names->begin(), names->end()).size() == names->size(),
           "{}: a part or landmark is declared twice", place);
  }
  return category;
}

Box box_from_json(const json& value, const ImageRecord& image, const std::string& place) {
  ensure(value.is_array() && value.size() == 4, "{}: expected [x, y, width, height]", place);
  const Box box{coordinate_value(value[0], place), coordinate_value(value[1], place),
                coordinate_value(value[2], place), coordinate_value(value[3], place)};
  ensure(box.width > 0.0 && box.height > 0.0, "{}: the box is empty ({} x {})", place, box.width,
         box.height);
  ensure(box.x < static_cast<double>(image.width) && box.y < static_cast<double>(image.height) &&
             box.x + box.width > 0.0 && box.y + box.height > 0.0,
         "{}: the box lies outside its image", place);
  return box;
}

RunLengthMask segmentation_from_json(const json& value,
                                     const ImageRecord& image,
                                     const std::string& place) {
  ensure(!value.is_array(), "{}: polygons are not read here; store the mask as RLE", place);
  auto mask = mask_from_json(value, place);
  ensure(mask.width == image.width && mask.height == image.height,
         "{}: a mask of {} x {} on an image of {} x {}", place, mask.width, mask.height,
         image.width, image.height);
  return mask;
}

Point point_from_json(const json& value, const std::string& place) {
  ensure(value.is_array() && value.size() == 2, "{}: expected [x, y]", place);
  return {coordinate_value(value[0], place), coordinate_value(value[1], place)};
}

// [x, y] for one instance, [[x, y], ...] for several.
std::vector<Point> points_from_json(const json& value, const std::string& place) {
  ensure(value.is_array(), "{}: expected [x, y] or a list of such", place);
  if (!value.empty() && value.front().is_number()) return {point_from_json(value, place)};
  std::vector<Point> points;
  for (const auto& point : value) points.push_back(point_from_json(point, place));
  return points;
}

void ensure_declared(const std::string& name,
                     const std::vector<std::string>& declared,
                     std::string_view place) {
  ensure(std::find(declared.begin(), declared.end(), name) != declared.end(),
         "{}: '{}' is not declared in its category (declared: {})", place, name, join(declared));
}

PartRegion region_from_json(const json& value, const ImageRecord& image, const std::string& place) {
  ensure(value.is_object(), "{}: expected an object with bbox and/or segmentation", place);
  PartRegion region;
  if (value.contains("bbox")) region.bbox = box_from_json(value["bbox"], image, place + ": bbox");
  if (value.contains("segmentation")) {
    region.segmentation =
        segmentation_from_json(value["segmentation"], image, place + ": segmentation");
  }
  ensure(region.bbox || region.segmentation, "{}: neither bbox nor segmentation", place);
  return region;
}

// Finds records by id; the dataset's lists outlive it.
template <typename Record>
class ById {
 public:
  ById(const std::vector<Record>& records, const char* kind, std::string_view file) {
    for (const auto& record : records) {
      ensure(index_.emplace(record.id, &record).second, "{}: {} id {} is used twice", file, kind,
             record.id);
    }
  }
  const Record& at(int64_t id, const char* field, std::string_view place) const {
    const auto found = index_.find(id);
    ensure(found != index_.end(), "{}: {}: there is no {}", place, field, id);
    return *found->second;
  }

 private:
  std::unordered_map<int64_t, const Record*> index_;
};

Annotation annotation_from_json(const json& value,
                                const ById<ImageRecord>& images,
                                const ById<Category>& categories,
                                std::string_view file) {
  Annotation annotation;
  annotation.id = integer_member(value, "id", fmt::format("{}: annotations", file));
  const auto place = fmt::format("{}: annotation {}", file, annotation.id);
  annotation.image_id = integer_member(value, "image_id", place);
  annotation.category_id = integer_member(value, "category_id", place);
  const auto& image = images.at(annotation.image_id, "image_id", place);
  const auto& category = categories.at(annotation.category_id, "category_id", place);
  annotation.bbox = box_from_json(member(value, "bbox", place), image, place + ": bbox");
  if (value.contains("segmentation")) {
    annotation.segmentation =
        segmentation_from_json(value["segmentation"], image, place + ": segmentation");
  }
  for (const auto& [name, points] : object_member(value, "landmarks", place).items()) {
    const auto here = fmt::format("{}: landmarks: {}", place, name);
    ensure_declared(name, category.landmarks, here);
    auto instances = points_from_json(points, here);
    if (!instances.empty()) annotation.landmarks.emplace(name, std::move(instances));
  }
  for (const auto& [name, region] : object_member(value, "parts", place).items()) {
    const auto here = fmt::format("{}: parts: {}", place, name);
    ensure_declared(name, category.parts, here);
    annotation.parts.emplace(name, region_from_json(region, image, here));
  }
  return annotation;
}

std::vector<int64_t> split_from_json(const json& value,
                                     const ById<ImageRecord>& images,
                                     const std::string& place) {
  ensure(value.is_array(), "{}: expected a list of image ids", place);
  std::vector<int64_t> ids;
  std::unordered_set<int64_t> seen;
  for (const auto& entry : value) {
    const int64_t id = images.at(integer_value(entry, place), "images", place).id;
    ensure(seen.insert(id).second, "{}: image {} is listed twice", place, id);
    ids.push_back(id);
  }
  return ids;
}

void ensure_format(const json& info, std::string_view file) {
  if (!info.contains("format")) return;
  ensure(info["format"] == kDatasetFormat, "{}: info: format is not '{}'", file, kDatasetFormat);
  const int64_t version = integer_member(info, "version", fmt::format("{}: info", file));
  ensure(version == kDatasetVersion, "{}: version {} of the format, this program reads version {}",
         file, version, kDatasetVersion);
}

// A member that is an object; an empty one when it is missing.
json object_of(const JsonFile& file, const char* key) {
  auto value = file.value(key);
  if (value.is_null() && !file.contains(key)) return json::object();
  ensure(value.is_object(), "{}: {}: expected an object, found {}", file.place(), key,
         value.type_name());
  return value;
}

PartDataset dataset_from_file(const JsonFile& file, const fs::path& folder) {
  const auto& place = file.place();
  PartDataset dataset;
  dataset.root = folder;
  dataset.info = object_of(file, "info");
  ensure_format(dataset.info, place);
  for (const auto* key : {"images", "categories", "annotations"}) {
    ensure(file.contains(key), "{}: '{}' is missing", place, key);
  }
  file.for_each("images", [&](std::string_view, const json& image) {
    dataset.images.push_back(image_from_json(image, place));
  });
  std::set<std::string> names;
  file.for_each("categories", [&](std::string_view, const json& category) {
    dataset.categories.push_back(category_from_json(category, place));
    ensure(names.insert(dataset.categories.back().name).second,
           "{}: categories: '{}' is named twice", place, dataset.categories.back().name);
  });
  const ById images(dataset.images, "image", place);
  const ById categories(dataset.categories, "category", place);
  file.for_each("annotations", [&](std::string_view, const json& annotation) {
    dataset.annotations.push_back(annotation_from_json(annotation, images, categories, place));
  });
  const ById annotations(dataset.annotations, "annotation", place);
  const auto splits = object_of(file, "splits");
  for (const auto& [name, ids] : splits.items()) {
    dataset.splits[name] = split_from_json(ids, images, fmt::format("{}: splits: {}", place, name));
  }
  return dataset;
}

json json_from_box(const Box& box) {
  return {box.x, box.y, box.width, box.height};
}

json json_from_points(const std::vector<Point>& points) {
  if (points.size() == 1) return {points[0].x, points[0].y};
  json list = json::array();
  for (const auto& point : points) list.push_back({point.x, point.y});
  return list;
}

json json_from_annotation(const Annotation& annotation) {
  const double area = annotation.segmentation
                          ? static_cast<double>(mask_area(*annotation.segmentation))
                          : annotation.bbox.width * annotation.bbox.height;
  json value{{"id", annotation.id},
             {"image_id", annotation.image_id},
             {"category_id", annotation.category_id},
             {"bbox", json_from_box(annotation.bbox)},
             {"area", area},
             {"iscrowd", 0},
             {"landmarks", json::object()},
             {"parts", json::object()}};
  if (annotation.segmentation) value["segmentation"] = mask_to_json(*annotation.segmentation);
  for (const auto& [name, points] : annotation.landmarks) {
    value["landmarks"][name] = json_from_points(points);
  }
  for (const auto& [name, region] : annotation.parts) {
    auto& part = value["parts"][name] = json::object();
    if (region.bbox) part["bbox"] = json_from_box(*region.bbox);
    if (region.segmentation) part["segmentation"] = mask_to_json(*region.segmentation);
  }
  return value;
}

// As one tree it would take ten times the memory of its text.
std::string text_of(const PartDataset& dataset) {
  auto info = dataset.info;
  info["format"] = kDatasetFormat;
  info["version"] = kDatasetVersion;
  std::string text;
  const auto add_list = [&](const char* key, const auto& records, const auto& json_from) {
    text += fmt::format("\"{}\":[", key);
    for (const auto& record : records) text += json_from(record).dump() + ",";
    if (!records.empty()) text.pop_back();
    text += "],";
  };
  const auto as_json = [](const auto& record) { return json(record); };
  text += "{";
  add_list("annotations", dataset.annotations, json_from_annotation);
  add_list("categories", dataset.categories, as_json);
  add_list("images", dataset.images, as_json);
  text += "\"info\":" + info.dump() + ",\"splits\":" + json(dataset.splits).dump() + "}\n";
  return text;
}

// Lies in the folder from the first to the last image: the mark of unfinished work.
constexpr auto kUnfinished = "unfinished.json";

// The members of `wanted` that `info` has otherwise, or not at all; "": none.
std::string other_members(const json& info, const json& wanted) {
  std::vector<std::string> others;
  for (const auto& [key, value] : wanted.items()) {
    if (!info.is_object() || !info.contains(key) || info[key] != value) others.push_back(key);
  }
  return join(others);
}

}  // namespace

void ensure_inside(const std::string& file_name, std::string_view place) {
  const fs::path path(file_name);
  const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  ensure(!file_name.empty() && path.is_relative() && !climbs && path.has_filename() &&
             file_name.find('\0') == std::string::npos,
         "{}: file_name: '{}' must be a path inside the dataset's folder", place,
         printable(file_name));
}

PartDataset load_dataset(const fs::path& folder) {
  ensure(fs::exists(folder / "dataset.json"),
         "{}: no dataset here (dataset.json is missing); make one with 'partwise data'",
         folder.string());
  return dataset_from_file(JsonFile(folder / "dataset.json"), folder);
}

void save_dataset(const PartDataset& dataset) {
  make_writable_folder(dataset.root);
  const auto file = dataset.root / "dataset.json";
  std::string text;
  try {
    text = text_of(dataset);
  } catch (const json::exception& problem) {
    throw Error(fmt::format("{}: cannot be written as JSON: {}", file.string(), problem.what()));
  }
  write_file_atomically(file, text);
}

std::optional<PartDataset> begin_dataset(const fs::path& folder, const json& identity) {
  const bool finished = fs::exists(folder / "dataset.json");
  const auto mark = folder / (finished ? "dataset.json" : kUnfinished);
  if (!fs::exists(mark)) {
    claim_folder(folder, kUnfinished, identity, "a dataset of this program");
    return std::nullopt;
  }
  const auto info = finished ? JsonFile(mark).value("info") : read_json(mark);
  const auto others = other_members(info, identity);
  ensure(others.empty(),
         "{}: holds a dataset made with other options or from other files ({}); choose another "
         "folder or remove it",
         folder.string(), others);
  remove_abandoned_writes(folder);
  if (!finished) return std::nullopt;
  auto dataset = load_dataset(folder);
  const bool whole =
      std::all_of(dataset.images.begin(), dataset.images.end(),
                  [&](const auto& image) { return fs::is_regular_file(folder / image.file_name); });
  if (!whole) return std::nullopt;
  std::error_code read_only;
  fs::remove(folder / kUnfinished, read_only);  // killed just before it would have been
  return dataset;
}

void forget_unfinished(const fs::path& folder) {
  if (!fs::exists(folder / kUnfinished) || fs::exists(folder / "dataset.json")) return;
  remove_folder(folder / "images");
  std::error_code failure;  // what stays is in nobody's way but its own
  fs::remove(folder / kUnfinished, failure);
}

// Waiting for the disk would take as long as making the images; finish_dataset flushes once.
void write_if_new(const fs::path& path, std::string_view bytes) {
  std::error_code failure;
  if (fs::file_size(path, failure) == bytes.size() && !failure && read_file(path) == bytes) return;
  const auto staged = path.string() + ".tmp";
  {
    std::ofstream stream(staged, std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream.flush();
    ensure(stream.good(), "{}: cannot write: {}", path.string(), std::strerror(errno));
  }
  fs::rename(staged, path);
}

void flush_to_disk(const fs::path& folder) {
  const Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ensure(handle.open(), "{}: cannot open: {}", folder.string(), std::strerror(errno));
  const int failure = ::syncfs(handle.number()) == 0 ? 0 : errno;
  ensure(failure == 0, "{}: cannot flush to disk: {}", folder.string(), std::strerror(failure));
}

PartDataset finish_dataset(const PartDataset& dataset) {
  flush_to_disk(dataset.root);
  save_dataset(dataset);
  fs::remove(dataset.root / kUnfinished);
  return load_dataset(dataset.root);
}

}  // namespace partwise::datasets
