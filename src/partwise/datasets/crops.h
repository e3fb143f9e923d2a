#pragma once

#include "partwise/base/geometry.h"
#include "partwise/datasets/crop_cache.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/images/resize.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace partwise::datasets {

// What one row of a network's input shows.
struct Sample {
  int64_t image_index = 0;        // into PartDataset::images
  int64_t annotation_index = -1;  // into PartDataset::annotations; -1: a negative, the whole image
};

struct CropOptions {
  int64_t side = 0;  // pixels
  int threads = 0;   // 0: all cores
  CropCache cache = {};
};

struct Crops {
  int64_t rows = 0;
  int64_t side = 0;
  std::span<const uint8_t> pixels;    // [rows, 3, side, side], planar RGB; read-only
  std::shared_ptr<const void> owner;  // keeps them: memory, or a file of the cache
  bool prepared_before = false;       // no image was decoded
};

// The objects of a split in the order of its image ids; with `negatives` also its images without
// objects, each in its place. "all" stands for all splits together, in the order of the images. An
// unknown split is an Error that lists the valid ones.
std::vector<Sample> samples_of_split(const PartDataset& dataset,
                                     const std::string& split,
                                     bool negatives);

// Each sample's object box (or whole image) resized to side x side. A JPEG with six times the
// pixels needed, or more, is decoded at a fraction of its size (images/resize.h: reduction_for).
// With a cache the crops are recognised by the bytes of the image files, the boxes and the side,
// and images are decoded only when they are not there yet. An unreadable image is an Error naming
// its file.
Crops load_crops(const PartDataset& dataset,
                 const std::vector<Sample>& samples,
                 const CropOptions& options);

// The whole pixels a box covers: its edges rounded, clipped to the image, at least 1 x 1.
images::Window window_from_box(const Box& box, int64_t width, int64_t height);

// The box a sample's crop shows, in image pixels: the object's, or the whole image.
Box crop_box(const PartDataset& dataset, const Sample& sample);

// Truth in crop pixels: ((x - box.x) * side / box.width, likewise y).
Point crop_from_image(Point point, const Box& box, int64_t side);

// One byte a crop pixel, row-major: the mask at the image pixel under the crop pixel's centre,
// 0 outside the image.
std::vector<uint8_t> crop_mask(const RunLengthMask& mask, const Box& box, int64_t side);

}  // namespace partwise::datasets
