#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/models/examples.h"
#include "partwise/models/model.h"
#include "partwise/runs/run_folder.h"
#include "partwise/training/recipe.h"

#include <filesystem>

namespace partwise::training {

// A folder and the recipe it holds, read once.
struct Run {
  runs::RunFolder folder;
  Recipe recipe;
};

// The run of a recipe: a new folder, or the one that holds it (see RunFolder::create).
Run claim_run(const std::filesystem::path& path,
              const Recipe& recipe,
              const nlohmann::json& manifest);

// An Error says what is impossible about a recipe on this dataset: see make_task, require_classes,
// build_architecture, rate_factors and with_validation.
void require_trainable(const Recipe& recipe, const datasets::PartDataset& dataset);

// Trains until options.epochs, or until options.stop_on has not improved for so long, going on from
// the run's newest checkpoint where there is one; a finished run is left as it is. After every
// epoch a row of log.jsonl, with what the validation images show where there are any, and a
// checkpoint; another every options.checkpoint_minutes. A run that goes on is, on one machine with
// the same number of threads, the uninterrupted one bit for bit. An interrupt ends it after
// the running step: that is saved and Interrupted thrown. A loss or gradient that is not finite
// stops with epoch, step and layer named. With several ranks all call this with the same run; the
// leader's checkpoint counts. A run that another process is training is an Error.
void train(const Run& run,
           const datasets::PartDataset& dataset,
           const models::Resources& resources);

bool is_trained(const Run& run);

}  // namespace partwise::training
