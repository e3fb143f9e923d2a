#pragma once

#include "partwise/experiments/machine.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace partwise::training {
struct Recipe;
}

namespace partwise::experiments {

// Where a recipe's options come from: given ones beat settings, settings the file, the file the
// defaults.
struct RecipeSources {
  std::string config;            // a JSON file
  std::vector<std::string> set;  // key=value
  nlohmann::json given = nlohmann::json::object();
};

// An unknown key or wrong value is an Error that names its place. base: options in place of the
// defaults.
training::Recipe recipe_of(const RecipeSources& sources,
                           const nlohmann::json& base = nlohmann::json::object());

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

// Trains a run, or goes on with it: it then brings its own options, and others than more epochs are
// refused. As one rank of several (torchrun's environment variables) where this process is one;
// with several request.ranks it starts them and waits. What is impossible is an Error before
// anything is written.
TrainOutcome train_run(const TrainRequest& request);

}  // namespace partwise::experiments
