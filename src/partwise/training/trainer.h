#pragma once

#include "partwise/datasets/crop_cache.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/networks/network.h"
#include "partwise/parts/options.h"
#include "partwise/runs/run_folder.h"
#include "partwise/tensors/ranks.h"
#include "partwise/training/options.h"
#include "partwise/training/task.h"

#include <nlohmann/json.hpp>

#include <string>

namespace partwise::training {

// All that decides the outcome of a run, as it stands in options.json.
struct Recipe {
  TrainOptions train;
  parts::PartOptions parts;
};
nlohmann::json to_json(const Recipe& recipe);
Recipe recipe_from_json(const nlohmann::json& json, const std::string& place);

// Where the work is done; the outcome depends on these only by rounding.
struct Resources {
  std::string device = "cpu";
  int threads = 0;
  datasets::CropCache cache = {};  // where decoded crops are kept between runs
  tensors::Ranks ranks = {};       // each takes its share of every batch; only the leader writes
};

// The network a recipe asks for, freshly drawn.
networks::Network make_network(const Recipe& recipe, const Task& task);

// Weights to start from that cannot be had are an Error, before anything is written; says what a
// file gave.
void require_init(const TrainOptions& options);

// An Error says what is impossible about a task on this dataset: see make_task and rate_factors.
void require_trainable(const TrainOptions& options, const datasets::PartDataset& dataset);

// Trains until options.epochs, going on from the run's last checkpoint where there is one; a
// finished run is left as it is. After every epoch a checkpoint and a row of log.jsonl. SIGINT and
// SIGTERM end it after the running step: Interrupted is thrown and nothing of the finished epochs
// is lost. A loss that is not finite stops with epoch and step named. With several ranks all call
// this with the same run; the leader's checkpoint counts.
void train(const runs::RunFolder& run,
           const datasets::PartDataset& dataset,
           const Resources& resources);

bool is_trained(const runs::RunFolder& run);

// The network of a run as its last checkpoint left it; an Error if it has none.
networks::Network load_network(const runs::RunFolder& run, const Task& task);

}  // namespace partwise::training
