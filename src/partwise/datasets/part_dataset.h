#pragma once

#include "partwise/base/geometry.h"
#include "partwise/datasets/regions.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partwise::datasets {

inline constexpr auto kDatasetFormat = "partwise part-dataset";
inline constexpr int64_t kDatasetVersion = 1;

struct ImageRecord {
  int64_t id = 0;
  std::string file_name;  // relative to the dataset's folder
  int64_t width = 0;
  int64_t height = 0;
};

struct Category {
  int64_t id = 0;
  std::string name;
  std::vector<std::string> parts;      // those that may have a region
  std::vector<std::string> landmarks;  // those that may have a point
};

// One object in one image.
struct Annotation {
  int64_t id = 0;
  int64_t image_id = 0;
  int64_t category_id = 0;
  Box bbox;
  std::optional<RunLengthMask> segmentation;            // the whole object, visible pixels
  std::map<std::string, std::vector<Point>> landmarks;  // visible instances; absent when none is
  std::map<std::string, PartRegion> parts;              // visible parts only
};

// The one schema every importer writes and everything else reads: dataset.json, COCO-shaped.
// An image without annotations is a negative. Splits list image ids, so they are disjoint by
// object.
struct PartDataset {
  std::filesystem::path root;
  nlohmann::json info = nlohmann::json::object();  // where it came from; the generator's options
  std::vector<ImageRecord> images;
  std::vector<Category> categories;
  std::vector<Annotation> annotations;
  std::map<std::string, std::vector<int64_t>> splits;  // "train", "test", ...
};

// `folder` holds dataset.json. Every reference is checked (ids unique, images and categories exist,
// names declared, boxes and points finite, masks of the image's size); an Error names file, id and
// field.
PartDataset load_dataset(const std::filesystem::path& folder);

// Writes root/dataset.json atomically. Images are not touched.
void save_dataset(const PartDataset& dataset);

// The dataset whose info contains every member of `identity`, where the folder holds it with all
// its images. Otherwise nothing, and the folder is ready for its images: a new or empty one gets
// the mark of unfinished work, one that has begun is left as it is. A non-empty folder that is
// something else is refused.
std::optional<PartDataset> begin_dataset(const std::filesystem::path& folder,
                                         const nlohmann::json& identity);

// Takes back an unfinished dataset that will not be finished: its images and the mark.
void forget_unfinished(const std::filesystem::path& folder);

// Atomic, but without waiting for the disk; nothing happens when the file holds these bytes
// already. Whoever writes holds the folder (dataset_lock.h): two would share the draft's name.
void write_if_new(const std::filesystem::path& path, std::string_view bytes);

// Waits until the disk has what write_if_new wrote below the folder.
void flush_to_disk(const std::filesystem::path& folder);

// A dataset may come from a stranger: it must not make us read files outside its folder.
void ensure_inside(const std::string& file_name, std::string_view place);

// Flushes the images to disk, writes dataset.json, removes the mark; gives what a reader will see.
PartDataset finish_dataset(const PartDataset& dataset);

}  // namespace partwise::datasets
