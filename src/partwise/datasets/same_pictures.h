#pragma once

#include "partwise/datasets/part_dataset.h"

#include <span>
#include <string>
#include <vector>

namespace partwise::datasets {

// One picture that teaches two things.
struct SamePicture {
  std::string first_file;
  std::string first_class;  // "no object" for a negative
  std::string second_file;
  std::string second_class;
};

// Images of equal content that show another category in the same box, or an object where the other
// shows none. content: [images], equal for equal bytes; "": not known.
std::vector<SamePicture> same_pictures_in_two_classes(const PartDataset& dataset,
                                                      std::span<const std::string> content);

std::string in_words(const SamePicture& picture);

}  // namespace partwise::datasets
