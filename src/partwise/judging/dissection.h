#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/judging/adversarial.h"
#include "partwise/judging/layer_findings.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/truth.h"
#include "partwise/models/activations.h"
#include "partwise/models/examples.h"
#include "partwise/models/model.h"
#include "partwise/models/resources.h"
#include "partwise/runs/run_folder.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace partwise::judging {

struct MeasureOptions {
  std::string split = "test";
  std::string checkpoint = "last";  // or "best"
  bool random_control = false;      // also measure the same net untrained: control random_weights
  judging::LayerOptions measures;
  AttackOptions attack;  // used where measures.extras holds kAdversarial
};

// A filter to show: how it was chosen, and the rows of its category on which it fires strongest.
struct FilterCard {
  std::size_t layer = 0;
  int64_t filter = 0;
  std::string chosen;  // "best", "random" or "worst" by part interpretability
  std::vector<int64_t> rows;
  std::vector<std::vector<float>> maps;  // [of rows]: before the mask
  nlohmann::json summary;                // filter, category, part, its numbers
};

// A trained network looked at over one split.
struct Dissection {
  models::Examples examples;             // the rows that show an object of the task
  std::vector<metrics::UnitGrid> grids;  // [layer]: of the maps before the mask
  metrics::Truth truth;
  std::map<std::string, metrics::Finding> decisions;  // of the whole network
  std::vector<judging::LayerFindings> layers;
  models::Position position;                                // the checkpoint's
  std::vector<models::FilterCategories> filter_categories;  // that the metrics went by
  nlohmann::json findings;  // everything but the cards' pictures; see docs/findings.md
  std::vector<FilterCard> cards;
};

Dissection dissect(const runs::RunFolder& run,
                   const datasets::PartDataset& dataset,
                   const MeasureOptions& options,
                   const models::Resources& resources);

}  // namespace partwise::judging
