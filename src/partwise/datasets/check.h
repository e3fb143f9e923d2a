#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/datasets/same_pictures.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace partwise::datasets {

struct LandmarkCount {
  int64_t objects = 0;          // with at least one visible instance
  int64_t single_instance = 0;  // with exactly one: those the location metric can use
};

struct CategorySummary {
  std::string name;
  int64_t objects = 0;
  std::map<std::string, int64_t> parts;  // objects that show the part
  std::map<std::string, LandmarkCount> landmarks;
  // The location instability a peak nailed to the crop's centre would score: sample deviation of
  // its distance to each single-instance landmark in units of the crop's diagonal, mean over
  // landmarks, all images. Empty if no landmark has two such objects.
  std::optional<double> constant_centre_instability;
};

struct ImageProblem {
  std::string file_name;
  std::string reason;
};

// One picture on both sides of a split.
struct SplitLeak {
  std::string first_split;
  std::string first_file;
  std::string second_split;
  std::string second_file;
  std::string reason;
};

struct DatasetSummary {
  int64_t images = 0;
  int64_t negatives = 0;  // images without an object
  int64_t annotations = 0;
  std::vector<CategorySummary> categories;
  std::map<std::string, int64_t> splits;  // images in each
  std::vector<ImageProblem> missing;
  std::vector<ImageProblem> unreadable;
  std::vector<ImageProblem> wrong_size;
  std::vector<SplitLeak> leaks;
  std::vector<SamePicture> same_pictures;  // in two classes

  [[nodiscard]] bool sound() const {
    return missing.empty() && unreadable.empty() && wrong_size.empty() && leaks.empty() &&
           same_pictures.empty();
  }
};

// Counts the truth and decodes every image, on `threads` threads (0: all cores).
DatasetSummary check_dataset(const PartDataset& dataset, int threads = 0);

nlohmann::json to_json(const DatasetSummary& summary);

}  // namespace partwise::datasets
