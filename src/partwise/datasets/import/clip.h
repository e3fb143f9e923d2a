#pragma once

#include "partwise/base/geometry.h"
#include "partwise/datasets/part_dataset.h"

#include <cstdint>
#include <optional>
#include <string>

namespace partwise::datasets {

// The part of a box inside a width x height image; empty when less than a millionth of a pixel is.
std::optional<Box> clipped(const Box& box, int64_t width, int64_t height);

// Makes an object's truth fit its image: boxes are clipped, parts and landmarks outside dropped.
// Returns why the object can't be used, or nothing.
std::string fit_to_image(Annotation& object, int64_t width, int64_t height);

}  // namespace partwise::datasets
