#pragma once

#include "partwise/datasets/crop_cache.h"
#include "partwise/datasets/crops.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/metrics/truth.h"
#include "partwise/models/task.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"

#include <span>
#include <string>
#include <vector>

namespace partwise::models {

// The rows of one split, ready for the network.
struct Examples {
  Tensor pixels;    // [rows, 3, side, side] uint8; never written to: it may be a mapped file
  Tensor category;  // [rows] int64: index into the task's categories; -1: none of them
  std::vector<datasets::Sample> samples;

  int64_t rows() const { return pixels.size(0); }
};

// What the rows of a split show.
struct Rows {
  std::vector<datasets::Sample> samples;
  std::vector<int64_t> category;  // index into the task's categories; -1: none of them
};

// Those the task asks about; an Error where there are none.
Rows task_rows(const datasets::PartDataset& dataset, const Task& task, const std::string& split);

// An Error where the train split shows one class only: there is nothing to be told apart.
void require_classes(const datasets::PartDataset& dataset, const Task& task);

// Object crops of the split that the task asks about: multi-softmax takes the objects, a logistic
// task the negatives too; for a binary task the objects of other categories count as negatives
// where the dataset has no object-free images.
Examples load_examples(const datasets::PartDataset& dataset,
                       const Task& task,
                       const std::string& split,
                       int64_t side,
                       int threads,
                       const datasets::CropCache& cache = {});

// Those rows, in that order.
Examples select_rows(const Examples& examples, const std::vector<int64_t>& rows);

// uint8 [.., 3, side, side] -> float, (x / 255 - mean) / std per channel (the ImageNet convention).
inline const std::vector<double> kPixelMean{0.485, 0.456, 0.406};
inline const std::vector<double> kPixelSpread{0.229, 0.224, 0.225};
Tensor normalised(const Tensor& pixels);
// The same on a GPU in one pass, the channels innermost; `narrow`: in bfloat16, which is what
// convolutions would round them to.
Tensor normalised_on_gpu(const Tensor& pixels, bool narrow);
// The same of images in [0, 1]; gradients flow.
Tensor standardised(const Tensor& images);

// Where the work is done; the outcome depends on these only by rounding.
struct Resources {
  std::string device = "cpu";
  int threads = 0;
  datasets::CropCache cache = {};  // where decoded crops are kept between runs
  tensors::Ranks ranks = {};       // each takes its share of every batch; only the leader writes
};

// Landmarks and part masks of the samples in pixels of their crops, categories in the order of
// their ids; objects of other categories count as none.
metrics::Truth truth_of(const datasets::PartDataset& dataset,
                        std::span<const int64_t> category_ids,
                        const std::vector<datasets::Sample>& samples,
                        int64_t side);

}  // namespace partwise::models
