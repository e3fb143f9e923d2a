#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/explaining/explanation.h"
#include "partwise/findings/run_findings.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/statistics.h"
#include "partwise/metrics/truth.h"
#include "partwise/models/activations.h"
#include "partwise/models/examples.h"
#include "partwise/models/task.h"
#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::atlas {

// What is measured of one filter. What does not exist is NaN.
struct FilterNumbers {
  double part_interpretability = metrics::kNaN;
  double instability_ratio = metrics::kNaN;
  double purity = metrics::kNaN;
  double peak = metrics::kNaN;     // mean over the rows of its category
  double matters = metrics::kNaN;  // mean of what the decision's score loses without it
};

// One tapped layer over the judged rows. Of maps only peaks and their places are in memory; the
// rest lies in a file without a name (models::ScratchMaps).
struct LayerLook {
  metrics::UnitGrid grid;         // of maps
  metrics::UnitGrid masked_grid;  // of masked
  metrics::MapSource maps;        // of the rows that show an object
  metrics::MapSource masked;
  metrics::MapSummaries peaks;         // of all judged rows, before the mask
  std::vector<bool> silent;            // [filter], see metrics::silent_filters
  std::vector<FilterNumbers> numbers;  // [filter]
  std::vector<int64_t> silenced_rows;  // on which filters were silenced one by one: the top layer
  std::vector<float> changes;          // [filter, of silenced_rows]: what the score lost
};

// What a network decided on the judged rows.
struct RowDecision {
  int64_t truth = 0;  // class
  int64_t decided = 0;
  double probability = 0.0;  // of the decision
};

// A run looked at over its split; needs its data.
struct Look {
  datasets::PartDataset dataset;
  models::Task task;
  models::Examples judged;             // all rows; they are what the explorer calls a row
  std::vector<int64_t> row_category;   // [row]
  std::vector<RowDecision> decisions;  // [row]
  metrics::Truth truth;                // of the rows that show an object
  std::vector<int64_t> objects;        // those rows
  std::vector<LayerLook> layers;       // [tap]

  const std::string& file_of(int64_t row) const;
};

struct LayerShape {
  std::string name;
  std::string role;
  int64_t filters = 0;
  int64_t side = 0;
  int64_t input_side = 0;
  bool has_mask = false;
};

// A run's network, ready to be shown: filters, what they stand for and, where the data are there,
// what they do on them. Nothing of it changes once it is open but for the explainer's names.
struct RunAtlas {
  std::shared_ptr<explaining::Explainer> explainer;
  std::vector<LayerShape> layers;                // [tap]
  std::vector<std::vector<int64_t>> categories;  // [tap][filter]; -1: not known
  std::shared_ptr<const Look> look;              // nullptr without its data
  std::string device;

  const networks::Network& network() const { return explainer->model().network; }
  const explaining::LayerParts* parts_of(std::size_t tap) const;
};

// What of a run is to be shown.
struct AtlasRequest {
  std::string checkpoint = "last";
  std::string split = "test";
  metrics::InterpretabilityOptions interpretability;
  metrics::InstabilityOptions instability;
};

// Goes by the parts the run knows. Without a dataset it is open without a look.
RunAtlas open_atlas(const runs::RunFolder& run,
                    std::optional<datasets::PartDataset> dataset,
                    const AtlasRequest& request,
                    const models::Resources& resources);

// The same run, which has a look, once it has learnt its parts from the training images of that
// dataset: minutes for large networks.
RunAtlas learn_parts_of(const RunAtlas& atlas,
                        const runs::RunFolder& run,
                        const AtlasRequest& request,
                        const models::Resources& resources);

// A layer of one filter alone: what was kept of its maps, and they themselves, in memory.
metrics::MapSummaries peaks_of_one(const metrics::MapSummaries& layer, int64_t filter);

struct OneFilter {
  std::vector<float> values;  // [rows, side, side]
  metrics::Maps maps() const { return {values, rows, 1, side}; }
  int64_t rows = 0;
  int64_t side = 0;
};
OneFilter one_filter(const metrics::MapSource& layer, int64_t filter);

}  // namespace partwise::atlas
