#pragma once

#include "partwise/experiments/machine.h"
#include "partwise/experiments/recipe_sources.h"

#include <cstdint>
#include <optional>
#include <string>

namespace partwise::experiments {

struct TrainRequest {
  std::string data;  // folder of the part-dataset
  std::string run;   // folder of the run
  bool resume = false;
  int ranks = 1;  // processes of this machine that share every batch
  RecipeSources recipe;
  Machine machine;
};

struct TrainOutcome {
  int exit_code = 0;  // of the ranks this process started
  struct Log {
    int64_t epochs = 0;
    double accuracy = 0.0;
    int64_t best_epoch = 0;  // on the validation images; 0: there were none
    int64_t best_images = 0;
    double best_accuracy = 0.0;
  };
  std::optional<Log> log;  // where this process is the one that trained and speaks
};

// Trains a run, or goes on with it: it then brings its own options, and others are refused. As one
// rank of several (torchrun's environment variables) where this process is one; with several
// request.ranks it starts them and waits. What is impossible is an Error before anything is written.
TrainOutcome train_run(const TrainRequest& request);

}  // namespace partwise::experiments
