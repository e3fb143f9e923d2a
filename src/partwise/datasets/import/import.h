#pragma once

#include "partwise/base/options.h"
#include "partwise/datasets/import/importers.h"
#include "partwise/datasets/same_pictures.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace partwise::datasets {

// own: the original's train, val and test folders where it has such, else clean.
enum class Protocol { own, clean, paper };

}  // namespace partwise::datasets

template <>
inline constexpr auto partwise::kWords<partwise::datasets::Protocol> = partwise::words("own",
                                                                                       "clean",
                                                                                       "paper");

namespace partwise::datasets {

struct ImportOptions {
  Protocol protocol = Protocol::own;
  double test_share = 0.2;
  int64_t seed = 1;

  static auto fields() {
    return std::tuple{
        Field{"protocol", &ImportOptions::protocol,
              "how images are split (own: by train, val and test folders, else clean)"},
        Field<ImportOptions, double>{"test_share", &ImportOptions::test_share,
                                     "share held out of each category (clean)", 0.0, 0.9},
        Field<ImportOptions, int64_t>{"seed", &ImportOptions::seed, "draws the clean split", 0},
    };
  }
};

struct ImportRequest {
  std::string format;
  std::filesystem::path source;
  std::filesystem::path out;
  std::vector<std::string> categories;  // empty: all
  std::string merged_name;              // not empty: all of them become one category of this name
  std::filesystem::path negatives;      // not empty: a folder of images without objects
  bool strict = false;                  // the first problem is an Error
  int threads = 0;                      // 0: all cores
  ImportOptions options;
};

struct ImportReport {
  PartDataset dataset;
  std::vector<Skipped> skipped;
  std::vector<SamePicture> same_pictures;  // in two classes; none where it was imported before
  std::vector<std::string> notes;          // what may not be meant so, in words; those also again
};

// Reads an original download (docs/datasets.md has the layouts) and writes the part-dataset `out`:
// the originals' bytes under images/, dataset.json, and skipped.json with what was left out. Each
// image is decoded once to prove that it can be used; no more than one per thread is in memory. A
// folder that already holds this import is left as it is; an interrupted one is completed; a
// non-empty folder that is something else is refused, and so is an import whose original has other
// images or another word in its annotations since, and one into its own original. Of two at once
// into one folder the second waits for the first.
ImportReport import_dataset(const ImportRequest& request);

// How often each kind of thing was skipped.
std::map<std::string, int64_t> count_by_kind(const std::vector<Skipped>& skipped);

}  // namespace partwise::datasets
