#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace partwise::datasets {

using Splits = std::map<std::string, std::vector<int64_t>>;

// One image of the original, in its order; those that could not be used keep their place, since the
// paper's rule counts them.
struct SplitEntry {
  int64_t image_id = 0;  // 0: not in the dataset
  int64_t stratum = 0;   // category, or 0 for negatives
  std::string content;   // equal for equal bytes
  std::optional<bool> official_train;
  std::string own_split;  // "": the original does not say
};

// The 0-based positions among `count` objects that the authors' release trains on:
// round(linspace(1, count, round(0.9 count))) - 1.
std::vector<int64_t> release_training(int64_t count);

// The original's own split where it has one; otherwise the release's rule within each stratum.
// Nothing is done about duplicates: `data check` names them.
Splits paper_splits(const std::vector<SplitEntry>& entries);

// A random share of each stratum is held out (at least one image of two or more); images of equal
// content stay together.
Splits clean_splits(const std::vector<SplitEntry>& entries, double test_share, int64_t seed);

// Every image where its original put it; those it says nothing about as clean_splits does, those
// held out among the original's test images, else among its validation images, else none of them.
Splits own_splits(const std::vector<SplitEntry>& entries, double test_share, int64_t seed);

}  // namespace partwise::datasets
