#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/datasets/part_dataset.h"

namespace partwise::datasets {
namespace {

using nlohmann::json;

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

json json_from_image(const ImageRecord& image) {
  return {{"id", image.id},
          {"file_name", image.file_name},
          {"width", image.width},
          {"height", image.height}};
}

json json_from_category(const Category& category) {
  return {{"id", category.id},
          {"name", category.name},
          {"parts", category.parts},
          {"landmarks", category.landmarks}};
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
  text += "{";
  add_list("annotations", dataset.annotations, json_from_annotation);
  add_list("categories", dataset.categories, json_from_category);
  add_list("images", dataset.images, json_from_image);
  text += "\"info\":" + info.dump() + ",\"splits\":" + json(dataset.splits).dump() + "}\n";
  return text;
}

}  // namespace

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

}  // namespace partwise::datasets
