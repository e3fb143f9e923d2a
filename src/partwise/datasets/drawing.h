#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/images/image.h"

#include <array>
#include <cstdint>
#include <string>

namespace partwise::datasets {

struct MarkColour {
  const char* name;
  std::array<uint8_t, 3> rgb;
};

// The colour of a category's n-th name, counting its parts and then the landmarks that are no
// parts.
const MarkColour& mark_colour(const Category& category, const std::string& name);

// The photograph, shrunk or enlarged so that its longer side is `side`, with one object's truth:
// its box white, part masks tinted, part boxes outlined, landmarks as discs.
images::Image draw_truth(const images::Image& photo,
                         const Annotation& object,
                         const Category& category,
                         int64_t side);

}  // namespace partwise::datasets
