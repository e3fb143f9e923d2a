#include "partwise/datasets/import/voc_masks.h"

#include "partwise/base/error.h"
#include "partwise/datasets/import/box_region.h"
#include "partwise/datasets/import/voc_merges.h"
#include "partwise/formats/matlab.h"

#include <algorithm>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;
using Pixels = std::vector<uint8_t>;

// An image's size, and the file to name when a mask does not have it.
struct Frame {
  int64_t width = 0;
  int64_t height = 0;
  std::string file;

  [[nodiscard]] Pixels mask(const formats::MatlabRecord& value) const {
    ensure(value.columns() == width && value.rows() == height,
           "{}: a mask of {} x {} on an image of {} x {}", file, value.columns(), value.rows(),
           width, height);
    return value.mask();
  }
};

void unite(Pixels& target, const Pixels& more) {
  if (target.empty()) target.resize(more.size(), 0);
  std::transform(target.begin(), target.end(), more.begin(), target.begin(),
                 [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
}

Point centre_of(const Box& box) {
  return {box.x + box.width / 2.0, box.y + box.height / 2.0};
}

void add_parts(Annotation& object,
               const formats::MatlabRecord& parts,
               const std::string& voc_class,
               const Frame& frame) {
  const auto landmarks = voc_landmarks(voc_class);
  std::map<std::string, Pixels> merged;
  for (int64_t i = 0; i < parts.count(); ++i) {
    const auto raw = parts.field("part_name", i).text();
    const auto pixels = frame.mask(parts.field("mask", i));
    const auto box = box_around(pixels, frame.width, frame.height);
    if (!box) continue;
    if (std::find(landmarks.begin(), landmarks.end(), raw) != landmarks.end()) {
      object.landmarks[raw].push_back(centre_of(*box));
    }
    if (const auto part = merged_part(voc_class, raw)) unite(merged[*part], pixels);
  }
  for (const auto& [name, pixels] : merged) {
    object.parts[name] = {box_around(pixels, frame.width, frame.height),
                          encode_mask(pixels, frame.width, frame.height)};
  }
}

}  // namespace

Objects read_voc_masks(const fs::path& file,
                       const std::map<std::string, int64_t>& category_ids,
                       int64_t width,
                       int64_t height) {
  const Frame frame{width, height, file.string()};
  const auto annotation = formats::read_matlab(file, "anno");
  const auto& found = annotation.field("objects");
  Objects objects;
  for (int64_t i = 0; i < found.count(); ++i) {
    const auto voc_class = found.field("class", i).text();
    const auto category = category_ids.find(voc_class);
    if (category == category_ids.end()) continue;
    const auto silhouette = frame.mask(found.field("mask", i));
    const auto box = box_around(silhouette, width, height);
    if (!box) {
      objects.unusable.push_back(fmt::format("{}: object {} has an empty mask", frame.file, i + 1));
      continue;
    }
    Annotation object;
    object.category_id = category->second;
    object.bbox = *box;
    object.segmentation = encode_mask(silhouette, width, height);
    add_parts(object, found.field("parts", i), voc_class, frame);
    objects.annotations.push_back(std::move(object));
  }
  return objects;
}

}  // namespace partwise::datasets
