#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/dissection/activations.h"
#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/truth.h"
#include "partwise/runs/run_folder.h"
#include "partwise/training/examples.h"
#include "partwise/training/trainer.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace partwise::dissection {

struct MeasureOptions {
  std::string split = "test";
  metrics::InstabilityOptions instability;
  metrics::InterpretabilityOptions interpretability;
  metrics::BootstrapOptions bootstrap;
};

// A filter to show: how it was chosen, and the rows of its category on which it fires strongest.
struct FilterCard {
  std::size_t layer = 0;
  int64_t filter = 0;
  std::string chosen;  // "best", "random" or "worst" by part interpretability
  std::vector<int64_t> rows;
  nlohmann::json summary;  // filter, category, part, its numbers
};

// A trained network looked at over one split.
struct Dissection {
  training::Examples examples;  // the rows that show an object of the task
  Activations activations;
  metrics::Truth truth;
  nlohmann::json findings;  // everything but the cards' pictures; see docs/findings.md
  std::vector<FilterCard> cards;
};

Dissection dissect(const runs::RunFolder& run,
                   const datasets::PartDataset& dataset,
                   const MeasureOptions& options,
                   const training::Resources& resources);

}  // namespace partwise::dissection
