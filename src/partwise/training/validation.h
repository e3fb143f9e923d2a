#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/metrics/truth.h"
#include "partwise/models/activations.h"
#include "partwise/models/examples.h"
#include "partwise/networks/network.h"
#include "partwise/training/train_options.h"

#include <nlohmann/json.hpp>

namespace partwise::training {

// The dataset with a split "validation" of up to options.validation_images images the task asks
// about, drawn by the seed: of its own split "validation" or "val"; where it has neither, of
// "train", which then lacks them. More than half of "train" is refused. The test split is never
// touched.
datasets::PartDataset with_validation(const datasets::PartDataset& dataset,
                                      const models::Task& task,
                                      const TrainOptions& options);

// A network being watched on images it is not trained on.
class Validation {
 public:
  // `dataset` has a split "validation"; `train` are the rows of its train split, of which some are
  // kept for telling which category a filter stands for.
  Validation(const datasets::PartDataset& dataset,
             const models::Task& task,
             const TrainOptions& options,
             const models::Resources& resources,
             int64_t input_side,
             const models::Examples& train);

  // {"images", "accuracy", "loss", "layers": [{"layer", "purity", "instability_ratio",
  // "dead_share", "silent_share", "effective_filters", "filters_per_category"}]}, as `partwise
  // measure` defines them, without intervals: layers are the tapped ones, over the rows that show
  // an object of the task; a filter's category is the one it fires strongest on among as many
  // training rows. null: the number does not exist.
  nlohmann::json measure(const networks::Network& network) const;

 private:
  nlohmann::json measure_layer(const models::LayerActivations& layer,
                               const std::vector<int64_t>& filter_category) const;

  models::Task task_;
  models::Resources resources_;
  models::Examples images_;
  models::Examples reference_;  // training rows
  metrics::Truth truth_;        // of the rows of images_ that show an object of the task
};

}  // namespace partwise::training
