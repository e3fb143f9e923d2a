#include "partwise/datasets/crops.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/names.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/images/codec.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <unordered_map>

namespace partwise::datasets {
namespace {

// First and one-past-last whole pixel of [start, start + extent) on an axis of `size` pixels.
std::pair<int64_t, int64_t> whole_pixels(double start, double extent, int64_t size) {
  const auto bounded = [&](double edge) {
    return std::llround(std::clamp(edge, 0.0, static_cast<double>(size)));
  };
  const int64_t first = std::min<int64_t>(bounded(start), size - 1);
  return {first, std::max<int64_t>(bounded(start + extent), first + 1)};
}

// "all", unless the dataset has a split of that name: every image that is in some split, once.
std::vector<int64_t> image_ids(const PartDataset& dataset, const std::string& split) {
  std::vector<std::string> names;
  for (const auto& [name, ids] : dataset.splits) names.push_back(name);
  if (dataset.splits.find("all") == dataset.splits.end()) names.emplace_back("all");
  index_of_name("split", split, names);
  const auto found = dataset.splits.find(split);
  if (found != dataset.splits.end()) return found->second;
  std::set<int64_t> placed;
  for (const auto& [name, ids] : dataset.splits) placed.insert(ids.begin(), ids.end());
  std::vector<int64_t> all;
  for (const auto& image : dataset.images) {
    if (placed.count(image.id) != 0) all.push_back(image.id);
  }
  return all;
}

// Counts up whenever the same file and box would give other pixels.
constexpr uint64_t kCropRule = 1;

images::Window window_of(const PartDataset& dataset, const Sample& sample) {
  const auto& record = dataset.images.at(static_cast<std::size_t>(sample.image_index));
  return window_from_box(crop_box(dataset, sample), record.width, record.height);
}

// Equal only for equal files, windows and sides, in the same order.
uint64_t content_of(const PartDataset& dataset,
                    const std::vector<Sample>& samples,
                    const CropOptions& options) {
  std::vector<int64_t> shown;
  for (const auto& sample : samples) shown.push_back(sample.image_index);
  std::sort(shown.begin(), shown.end());
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  std::vector<uint64_t> hashes(dataset.images.size());
  parallel_for(std::ssize(shown), options.threads, [&](int64_t i) {
    const auto at = static_cast<std::size_t>(shown[static_cast<std::size_t>(i)]);
    const auto bytes = read_file(dataset.root / dataset.images.at(at).file_name);
    hashes[at] = quick_hash({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  });
  uint64_t content = derive_seed({kCropRule, static_cast<uint64_t>(options.side)});
  for (const auto& sample : samples) {
    const auto at = static_cast<std::size_t>(sample.image_index);
    const auto& record = dataset.images[at];
    const auto window = window_of(dataset, sample);
    for (const int64_t number :
         {record.width, record.height, window.x, window.y, window.width, window.height}) {
      content = mix64(content ^ static_cast<uint64_t>(number));
    }
    content = mix64(content ^ hashes[at]);
  }
  return content;
}

void copy_planar(const images::Image& image, std::span<uint8_t> out) {
  const std::size_t area = image.pixels.size() / 3;
  for (std::size_t i = 0; i < area; ++i) {
    for (std::size_t c = 0; c < 3; ++c) out[c * area + i] = image.pixels[3 * i + c];
  }
}

}  // namespace

std::vector<Sample> samples_of_split(const PartDataset& dataset,
                                     const std::string& split,
                                     bool negatives) {
  std::unordered_map<int64_t, int64_t> image_index;
  for (std::size_t i = 0; i < dataset.images.size(); ++i) {
    image_index[dataset.images[i].id] = static_cast<int64_t>(i);
  }
  std::unordered_map<int64_t, std::vector<int64_t>> objects;
  for (std::size_t i = 0; i < dataset.annotations.size(); ++i) {
    objects[dataset.annotations[i].image_id].push_back(static_cast<int64_t>(i));
  }
  std::vector<Sample> samples;
  for (const int64_t id : image_ids(dataset, split)) {
    const auto found = objects.find(id);
    if (found == objects.end()) {
      if (negatives) samples.push_back({image_index.at(id), -1});
      continue;
    }
    for (const int64_t object : found->second) samples.push_back({image_index.at(id), object});
  }
  return samples;
}

images::Window window_from_box(const Box& box, int64_t width, int64_t height) {
  const auto [left, right] = whole_pixels(box.x, box.width, width);
  const auto [top, bottom] = whole_pixels(box.y, box.height, height);
  return {left, top, right - left, bottom - top};
}

Box crop_box(const PartDataset& dataset, const Sample& sample) {
  if (sample.annotation_index >= 0) {
    return dataset.annotations.at(static_cast<std::size_t>(sample.annotation_index)).bbox;
  }
  const auto& image = dataset.images.at(static_cast<std::size_t>(sample.image_index));
  return {0.0, 0.0, static_cast<double>(image.width), static_cast<double>(image.height)};
}

Crops load_crops(const PartDataset& dataset,
                 const std::vector<Sample>& samples,
                 const CropOptions& options) {
  expects(options.side > 0, "crops need a side, got {}", options.side);
  const auto rows = static_cast<int64_t>(samples.size());
  const int64_t row_bytes = 3 * options.side * options.side;
  std::atomic<int64_t> decoded = 0;
  const auto fill = [&](int64_t row, std::span<uint8_t> out) {
    const auto& sample = samples[static_cast<std::size_t>(row)];
    const auto& record = dataset.images.at(static_cast<std::size_t>(sample.image_index));
    const auto window = window_of(dataset, sample);
    const auto reduction = images::reduction_for(window, options.side, options.side);
    const auto seen = images::read_reduced(dataset.root / record.file_name, reduction, window);
    ensure(seen.width == record.width && seen.height == record.height,
           "{}: is {} x {}, dataset.json says {} x {}", record.file_name, seen.width, seen.height,
           record.width, record.height);
    copy_planar(images::resize_antialiased(seen, window, options.side, options.side), out);
    ++decoded;
  };
  std::optional<RowBytes> kept;
  if (!options.cache.folder.empty() && options.cache.limit > 0) {
    const RowsKey key{content_of(dataset, samples, options), rows, row_bytes};
    kept = cached_rows(options.cache, key, options.threads, fill);
  }
  if (kept) return {rows, options.side, kept->bytes, kept->owner, decoded == 0};
  const auto memory =
      std::make_shared<std::vector<uint8_t>>(static_cast<std::size_t>(rows * row_bytes));
  Progress progress("decoding", rows, "crops");
  parallel_for(rows, options.threads, [&](int64_t row) {
    if (interrupt_requested()) throw Interrupted("interrupted while decoding images");
    fill(row, std::span(*memory).subspan(static_cast<std::size_t>(row * row_bytes),
                                         static_cast<std::size_t>(row_bytes)));
    progress.advance();
  });
  return {rows, options.side, *memory, memory, false};
}

Point crop_from_image(Point point, const Box& box, int64_t side) {
  const auto scale = static_cast<double>(side);
  return {(point.x - box.x) * scale / box.width, (point.y - box.y) * scale / box.height};
}

std::vector<uint8_t> crop_mask(const RunLengthMask& mask, const Box& box, int64_t side) {
  const auto pixels = decode_mask(mask);
  const auto image_from_crop = [&](int64_t position, double start, double extent) {
    const double share = (static_cast<double>(position) + 0.5) / static_cast<double>(side);
    return static_cast<int64_t>(std::floor(start + share * extent));
  };
  std::vector<uint8_t> cropped(static_cast<std::size_t>(side * side), 0);
  for (int64_t y = 0; y < side; ++y) {
    const int64_t v = image_from_crop(y, box.y, box.height);
    if (v < 0 || v >= mask.height) continue;
    for (int64_t x = 0; x < side; ++x) {
      const int64_t u = image_from_crop(x, box.x, box.width);
      if (u < 0 || u >= mask.width) continue;
      cropped[static_cast<std::size_t>(y * side + x)] =
          pixels[static_cast<std::size_t>(v * mask.width + u)];
    }
  }
  return cropped;
}

}  // namespace partwise::datasets
