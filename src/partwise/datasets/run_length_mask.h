#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace partwise::datasets {

// A set of pixels as COCO stores it: runs of 0 and 1 in column-major order, the first run counts
// zeros.
struct RunLengthMask {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint32_t> counts;  // sums to width * height
};

// One byte a pixel, 0 or 1, row-major.
RunLengthMask encode_mask(const std::vector<uint8_t>& pixels, int64_t width, int64_t height);
std::vector<uint8_t> decode_mask(const RunLengthMask& mask);
int64_t mask_area(const RunLengthMask& mask);

// COCO's RLE object {"size": [h, w], "counts": ...}: written in the compressed string form, read in
// both forms. An Error says what is wrong with it; counts that do not fill size exactly are
// refused.
nlohmann::json mask_to_json(const RunLengthMask& mask);
RunLengthMask mask_from_json(const nlohmann::json& json, std::string_view place);

}  // namespace partwise::datasets
