#pragma once

#include "partwise/base/geometry.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace partwise::datasets {

// A set of pixels as COCO stores it: runs of 0 and 1 in column-major order, the first run counts
// zeros.
struct RunLengthMask {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint32_t> counts;  // sums to width * height
};

// One byte per pixel, 0 or 1, row-major.
RunLengthMask encode_mask(const std::vector<uint8_t>& pixels, int64_t width, int64_t height);
std::vector<uint8_t> decode_mask(const RunLengthMask& mask);
int64_t mask_area(const RunLengthMask& mask);

// COCO's RLE object {"size": [h, w], "counts": ...}: written in the compressed string form, read in
// both forms. An Error says what is wrong with it; counts that do not fill size exactly are
// refused.
nlohmann::json mask_to_json(const RunLengthMask& mask);
RunLengthMask mask_from_json(const nlohmann::json& json, std::string_view place);

struct PartRegion {
  std::optional<Box> bbox;
  std::optional<RunLengthMask> segmentation;  // as large as the image
};

// The region of a part known by boxes only: one box, or for several instances the box around them
// and the pixels (centres) inside any of them as a mask.
PartRegion region_of_boxes(const std::vector<Box>& boxes, int64_t width, int64_t height);

// The smallest box around a mask's pixels; empty for an empty mask. Row-major, 0 or 1.
std::optional<Box> box_around(const std::vector<uint8_t>& pixels, int64_t width, int64_t height);

Box box_around(const Box& a, const Box& b);

// Sets the pixels whose centres lie inside a polygon (even-odd rule) in a row-major mask.
void fill_polygon(const std::vector<Point>& corners,
                  int64_t width,
                  int64_t height,
                  std::vector<uint8_t>& pixels);

}  // namespace partwise::datasets
