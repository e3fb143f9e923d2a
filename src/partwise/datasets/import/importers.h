#pragma once

#include "partwise/datasets/part_dataset.h"

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

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
constexpr auto kTruthUnusable = "part or landmark unusable";  // of an object that is kept
constexpr auto kFileElsewhere = "file outside the layout";
constexpr auto kNothingChosen = "image without a chosen category";

// The truth of one image; ids of images and annotations are still unset.
struct Objects {
  std::vector<Annotation> annotations;
  std::vector<std::string> unusable;  // one reason for each object left out
  std::vector<std::string> lost;      // and for each part or landmark of one that is kept
};

constexpr int64_t kNegative = 0;         // no category has this id
constexpr int64_t kUnknownStratum = -1;  // until the objects are read

struct PlannedImage {
  std::filesystem::path source;
  std::string file_name;               // in the dataset
  int64_t id = 0;                      // 0: numbered in order
  int64_t stratum = kUnknownStratum;   // category of its first object, or kNegative
  std::optional<bool> official_train;  // where the original says so
  std::string own_split;               // where it lies in a folder of this name

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
  std::vector<std::string> notes;  // what a person may not have meant, one line each

  // The files whose truth it tells or will tell, by their place in the original.
  std::map<std::string, std::filesystem::path> truth_files;
};

struct ImportFormat {
  std::string name;
  std::string what;  // for --help
  bool needs_matlab = false;
  // What `source` holds of the categories asked for (none: all); an Error says what is not as the
  // original has it.
  ImportPlan (*plan)(const std::filesystem::path& source, std::span<const std::string> asked);
};

const std::vector<ImportFormat>& import_formats();

// An unknown name is an Error that lists the valid ones.
const ImportFormat& import_format(const std::string& name);

// One file each.
ImportPlan plan_animal_part(const std::filesystem::path& source,
                            std::span<const std::string> asked);
ImportPlan plan_cub200(const std::filesystem::path& source, std::span<const std::string> asked);
ImportPlan plan_voc_part(const std::filesystem::path& source, std::span<const std::string> asked);
ImportPlan plan_coco(const std::filesystem::path& source, std::span<const std::string> asked);
ImportPlan plan_folder(const std::filesystem::path& source, std::span<const std::string> asked);

// A category an original offers: its name here, and how the original spells it.
struct Choice {
  std::string name;
  std::string original;
};

// Whether each offered category was asked for, by either name; with nothing asked, all are. A name
// that is not offered is an Error that lists what is.
std::vector<bool> chosen(std::span<const Choice> offered, std::span<const std::string> asked);

// The files of `folder` itself whose names end so, sorted; none where there is no such folder.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const char* extension);

// Every file below `folder` but hidden ones, sorted, relative to it. Whether each is an image shows
// when it is decoded. What is no file (a link to nothing or to a folder, a pipe) is added to
// `skipped`.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder,
                                               std::vector<Skipped>& skipped);

// Names every file below `folder` that is not among `known`, which are relative to it.
void name_others(const std::filesystem::path& folder,
                 const std::set<std::filesystem::path>& known,
                 const char* kind,
                 const char* reason,
                 ImportPlan& plan);

// Adds every file below `folder` as an image without objects, under images/negatives.
void plan_negatives(const std::filesystem::path& folder, ImportPlan& plan);

}  // namespace partwise::datasets
