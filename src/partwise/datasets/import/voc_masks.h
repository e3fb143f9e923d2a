#pragma once

#include "partwise/datasets/import/plan.h"

#include <filesystem>
#include <map>
#include <string>

namespace partwise::datasets {

// The objects of one Annotations_Part/*.mat: silhouette, its box, merged parts and landmarks.
// `category_ids` has the classes asked for; others are passed over. A mask that is not as large as
// the image is an Error.
Objects read_voc_masks(const std::filesystem::path& file,
                       const std::map<std::string, int64_t>& category_ids,
                       int64_t width,
                       int64_t height);

}  // namespace partwise::datasets
