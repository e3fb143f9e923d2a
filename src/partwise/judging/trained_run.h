#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/models/activations.h"
#include "partwise/models/examples.h"
#include "partwise/models/model.h"
#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <string>

namespace partwise::judging {

// A run ready to be looked at, on a dataset.
struct TrainedRun {
  models::Design design;
  models::Task task;  // asked of this dataset
  networks::Network network;
  models::Position position;
  models::Examples train;  // the rows of the train split

  int64_t input_side() const { return design.input.side; }
};

// From its last checkpoint or its best, on the device.
TrainedRun open_trained_run(const runs::RunFolder& run,
                            const datasets::PartDataset& dataset,
                            const models::Resources& resources,
                            const std::string& checkpoint);

// The run's training rows as this network sees them: its own, or one that is not trained.
models::TrainingView view_training(const networks::Network& network,
                                   const TrainedRun& trained,
                                   const models::Resources& resources);

}  // namespace partwise::judging
