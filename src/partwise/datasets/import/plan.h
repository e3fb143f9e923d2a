#pragma once

#include "partwise/datasets/part_dataset.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace partwise::datasets {

// Something of the original that does not enter the dataset.
struct Skipped {
  std::string kind;  // "image absent", "image unreadable", "object unusable", ...
  std::string name;
  std::string reason;
};

constexpr auto kImageAbsent = "image absent";
constexpr auto kImageUnreadable = "image unreadable";
constexpr auto kAnnotationUnusable = "annotation unusable";
constexpr auto kObjectUnusable = "object unusable";
constexpr auto kNothingChosen = "image without a chosen category";

// The truth of one image; ids of images and annotations are still unset.
struct Objects {
  std::vector<Annotation> annotations;
  std::vector<std::string> unusable;  // one reason for each object left out
};

constexpr int64_t kNegative = 0;         // no category has this id
constexpr int64_t kUnknownStratum = -1;  // until the objects are read

struct PlannedImage {
  std::filesystem::path source;
  std::string file_name;               // in the dataset
  int64_t id = 0;                      // 0: numbered in order
  int64_t stratum = kUnknownStratum;   // category of its first object, or kNegative
  std::optional<bool> official_train;  // where the original says so

  // Called once the image's size is known, on any thread; an Error means the image can't be used.
  // Empty for a negative.
  std::function<Objects(int64_t width, int64_t height)> objects;
};

// What an importer finds in the original layout. Images are not opened yet, and masks are read only
// when an image's turn comes.
struct ImportPlan {
  std::vector<Category> categories;
  std::vector<PlannedImage> images;  // in the original's order
  std::vector<Skipped> skipped;
};

}  // namespace partwise::datasets
