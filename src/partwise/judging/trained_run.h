#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/models/activations.h"
#include "partwise/runs/run_folder.h"
#include "partwise/training/trainer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace partwise::judging {

// A run ready to be looked at.
struct TrainedRun {
  training::Recipe recipe;
  models::Task task;
  networks::Network network;
  models::Examples train;  // the rows of the train split

  int64_t input_side() const { return network.architecture().input_side; }
};

// From its last checkpoint or its best, on the device.
TrainedRun open_trained_run(const runs::RunFolder& run,
                            const datasets::PartDataset& dataset,
                            const models::Resources& resources,
                            const std::string& checkpoint);

// Peaks and masses of a network on the training rows, per tapped layer, and the category each
// filter stands for: argmax_c E sum x over those rows.
struct TrainingView {
  std::vector<metrics::MapSummaries> summaries;
  std::vector<int64_t> row_category;
  std::vector<std::vector<int64_t>> filter_category;  // [layer][filter]
};
TrainingView view_training(const networks::Network& network,
                           const TrainedRun& trained,
                           const models::Resources& resources);

// A tensor of whole numbers.
std::vector<int64_t> to_vector(const Tensor& tensor);

}  // namespace partwise::judging
