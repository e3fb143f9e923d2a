#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/datasets/synthetic_animals.h"

#include <cstdint>
#include <string>
#include <vector>

namespace partwise::datasets {

inline constexpr auto kInterventionsFormat = "partwise interventions";
inline constexpr int64_t kInterventionsVersion = 1;

// An image of a dataset drawn again with something changed.
struct ChangedImage {
  std::string file_name;  // relative to the dataset's folder
  int64_t image_id = 0;   // the unchanged image
  int64_t annotation_id = 0;
  Intervention change;  // parts in the category's order
};

// Draws every animal of the split "test" again: without each visible part, without each pair of
// them, in another place. Writes interventions/*.png, then interventions.json; dataset.json stays
// as it is. The same dataset gives the same bytes whatever the thread count (0: all cores). What is
// finished is left as it is; what was interrupted is completed. An Error where the dataset was not
// drawn by this version of the generator or holds no animal for testing.
std::vector<ChangedImage> write_interventions(const PartDataset& dataset, int threads);

// What interventions.json lists, checked against the dataset: ids exist and belong together, parts
// are declared, paths stay inside the folder. The images are not looked at.
std::vector<ChangedImage> read_interventions(const PartDataset& dataset);

}  // namespace partwise::datasets
