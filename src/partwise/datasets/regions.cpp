#include "partwise/datasets/regions.h"

#include "partwise/base/error.h"
#include "partwise/formats/json_records.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace partwise::datasets {
namespace {

using nlohmann::json;

// COCO's text form: each count (from the fourth on, its difference to the count two before) in
// groups of five bits, lowest first, as characters from '0' on; bit 5 says that more groups follow,
// bit 4 of the last group is the sign.
constexpr int kFirstCharacter = 48;
constexpr int kGroupBits = 5;
constexpr int64_t kGroupMask = 0x1F;
constexpr int64_t kMoreBit = 0x20;
constexpr int64_t kSignBit = 0x10;
constexpr int kMaxGroups = 8;  // 40 bits hold any difference of two 32-bit counts

std::string text_from_counts(const std::vector<uint32_t>& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    int64_t rest = counts[i];
    if (i > 2) rest -= counts[i - 2];
    bool more = true;
    while (more) {
      int64_t group = rest & kGroupMask;
      rest >>= kGroupBits;
      more = (group & kSignBit) != 0 ? rest != -1 : rest != 0;
      if (more) group |= kMoreBit;
      text.push_back(static_cast<char>(group + kFirstCharacter));
    }
  }
  return text;
}

// Takes one number off the front of `text`.
int64_t take_number(std::string_view& text, std::string_view place) {
  int64_t value = 0;
  for (int group = 0; group < kMaxGroups; ++group) {
    ensure(!text.empty(), "{}: the RLE text ends inside a number", place);
    const int64_t bits = static_cast<unsigned char>(text.front()) - kFirstCharacter;
    ensure(bits >= 0 && bits < 64, "{}: the RLE text holds a character outside its alphabet",
           place);
    text.remove_prefix(1);
    value |= (bits & kGroupMask) << (kGroupBits * group);
    if ((bits & kMoreBit) != 0) continue;
    if ((bits & kSignBit) != 0) value |= -(int64_t{1} << (kGroupBits * (group + 1)));
    return value;
  }
  throw Error(fmt::format("{}: the RLE text holds a number that is too long", place));
}

void push_count(std::vector<uint32_t>& counts, int64_t count, std::string_view place) {
  ensure(count >= 0 && count <= std::numeric_limits<uint32_t>::max(),
         "{}: an RLE count is {}, which no image can hold", place, count);
  counts.push_back(static_cast<uint32_t>(count));
}

std::vector<uint32_t> counts_from_text(std::string_view text, std::string_view place) {
  std::vector<uint32_t> counts;
  while (!text.empty()) {
    int64_t count = take_number(text, place);
    if (counts.size() > 2) count += counts[counts.size() - 2];
    push_count(counts, count, place);
  }
  return counts;
}

int64_t side_from_json(const json& value, std::string_view place) {
  const int64_t side = formats::integer_value(value, place);
  ensure(side >= 1 && side <= std::numeric_limits<int32_t>::max(), "{}: an RLE size of {} pixels",
         place, side);
  return side;
}

// The first of `size` pixels whose centre lies at or after the edge.
int64_t first_pixel(double edge, int64_t size) {
  return static_cast<int64_t>(std::clamp(std::ceil(edge - 0.5), 0.0, static_cast<double>(size)));
}

// Sets the pixels of row y whose centres lie in [left, right).
void fill_row(std::vector<uint8_t>& pixels, int64_t width, int64_t y, double left, double right) {
  for (int64_t x = first_pixel(left, width); x < first_pixel(right, width); ++x) {
    pixels[static_cast<std::size_t>(y * width + x)] = 1;
  }
}

// Where the polygon's edges cross the line through a row's pixel centres, sorted.
std::vector<double> crossings(const std::vector<Point>& corners, double y) {
  std::vector<double> at;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto& a = corners[i];
    const auto& b = corners[(i + 1) % corners.size()];
    if ((a.y <= y) == (b.y <= y)) continue;
    at.push_back(a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x));
  }
  std::sort(at.begin(), at.end());
  return at;
}

}  // namespace

RunLengthMask encode_mask(const std::vector<uint8_t>& pixels, int64_t width, int64_t height) {
  expects(pixels.size() == static_cast<std::size_t>(width * height),
          "a mask of {} x {} needs as many pixels, got {}", width, height, pixels.size());
  RunLengthMask mask{width, height, {}};
  uint32_t run = 0;
  uint8_t value = 0;
  for (int64_t x = 0; x < width; ++x) {
    for (int64_t y = 0; y < height; ++y) {
      const uint8_t pixel = pixels[static_cast<std::size_t>(y * width + x)] != 0 ? 1 : 0;
      if (pixel != value) {
        mask.counts.push_back(run);
        run = 0;
        value = pixel;
      }
      ++run;
    }
  }
  mask.counts.push_back(run);
  return mask;
}

std::vector<uint8_t> decode_mask(const RunLengthMask& mask) {
  std::vector<uint8_t> pixels(static_cast<std::size_t>(mask.width * mask.height), 0);
  int64_t position = 0;
  for (std::size_t run = 0; run < mask.counts.size(); ++run) {
    const int64_t end = position + mask.counts[run];
    expects(end <= mask.width * mask.height, "the runs of a mask overflow its size");
    for (; position < end; ++position) {
      if (run % 2 == 0) continue;
      const int64_t x = position / mask.height;
      const int64_t y = position % mask.height;
      pixels[static_cast<std::size_t>(y * mask.width + x)] = 1;
    }
  }
  return pixels;
}

int64_t mask_area(const RunLengthMask& mask) {
  int64_t area = 0;
  for (std::size_t run = 1; run < mask.counts.size(); run += 2) area += mask.counts[run];
  return area;
}

json mask_to_json(const RunLengthMask& mask) {
  return {{"size", {mask.height, mask.width}}, {"counts", text_from_counts(mask.counts)}};
}

RunLengthMask mask_from_json(const nlohmann::json& json, std::string_view place) {
  ensure(json.is_object() && json.contains("size") && json.contains("counts"),
         "{}: expected COCO's RLE object with size and counts", place);
  const auto& size = json["size"];
  ensure(size.is_array() && size.size() == 2, "{}: the RLE size must be [height, width]", place);
  RunLengthMask mask;
  mask.height = side_from_json(size[0], place);
  mask.width = side_from_json(size[1], place);
  const auto& counts = json["counts"];
  ensure(counts.is_string() || counts.is_array(), "{}: RLE counts must be text or a list", place);
  if (counts.is_string()) {
    mask.counts = counts_from_text(counts.get_ref<const std::string&>(), place);
  } else {
    for (const auto& count : counts) {
      push_count(mask.counts, formats::integer_value(count, place), place);
    }
  }
  const int64_t filled = std::accumulate(mask.counts.begin(), mask.counts.end(), int64_t{0});
  ensure(filled == mask.width * mask.height, "{}: the RLE counts fill {} pixels of {} x {}", place,
         filled, mask.width, mask.height);
  return mask;
}

Box box_around(const Box& a, const Box& b) {
  const double left = std::min(a.x, b.x);
  const double top = std::min(a.y, b.y);
  return {left, top, std::max(a.x + a.width, b.x + b.width) - left,
          std::max(a.y + a.height, b.y + b.height) - top};
}

PartRegion region_of_boxes(const std::vector<Box>& boxes, int64_t width, int64_t height) {
  expects(!boxes.empty(), "a region needs a box");
  PartRegion region;
  region.bbox = boxes.front();
  for (const auto& box : boxes) region.bbox = box_around(*region.bbox, box);
  if (boxes.size() == 1) return region;
  std::vector<uint8_t> pixels(static_cast<std::size_t>(width * height), 0);
  for (const auto& box : boxes) {
    const int64_t end = first_pixel(box.y + box.height, height);
    for (int64_t y = first_pixel(box.y, height); y < end; ++y) {
      fill_row(pixels, width, y, box.x, box.x + box.width);
    }
  }
  region.segmentation = encode_mask(pixels, width, height);
  return region;
}

std::optional<Box> box_around(const std::vector<uint8_t>& pixels, int64_t width, int64_t height) {
  int64_t left = width;
  int64_t right = 0;
  int64_t top = height;
  int64_t bottom = 0;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      if (pixels[static_cast<std::size_t>(y * width + x)] == 0) continue;
      left = std::min(left, x);
      right = std::max(right, x + 1);
      top = std::min(top, y);
      bottom = std::max(bottom, y + 1);
    }
  }
  if (left >= right) return std::nullopt;
  return Box{static_cast<double>(left), static_cast<double>(top), static_cast<double>(right - left),
             static_cast<double>(bottom - top)};
}

void fill_polygon(const std::vector<Point>& corners,
                  int64_t width,
                  int64_t height,
                  std::vector<uint8_t>& pixels) {
  for (int64_t y = 0; y < height; ++y) {
    const auto edges = crossings(corners, static_cast<double>(y) + 0.5);
    for (std::size_t i = 0; i + 1 < edges.size(); i += 2) {
      fill_row(pixels, width, y, edges[i], edges[i + 1]);
    }
  }
}

}  // namespace partwise::datasets
