#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/findings/run_findings.h"
#include "partwise/judging/adversarial.h"
#include "partwise/judging/filter_cards.h"
#include "partwise/judging/measure_options.h"
#include "partwise/models/examples.h"
#include "partwise/models/model.h"
#include "partwise/models/task.h"
#include "partwise/runs/run_folder.h"

#include <string>
#include <vector>

namespace partwise::judging {

// The rows that show an object of the task.
models::Examples rows_with_objects(const models::Examples& examples);

// Peaks of those rows among all judged ones.  category [rows] as in models::Examples
metrics::MapSummaries peaks_of_objects(const metrics::MapSummaries& judged,
                                       std::span<const int64_t> category);

// How many of the rows show images of the train split.
int64_t training_images(const models::Examples& judged, const models::Examples& train);

// A network's answers to all judged rows, held against what they show.
struct Decisions {
  metrics::Findings findings;
  std::vector<std::vector<int64_t>> confusion;  // [truth][decided]
};
//   logits [rows, outputs]; category [rows] as in models::Examples
Decisions decisions_on(const models::Task& task,
                       const Tensor& logits,
                       const Tensor& category,
                       const Attacked& attacked,
                       const metrics::BootstrapOptions& bootstrap);

// A trained network looked at over one split.
struct Dissection {
  findings::RunFindings findings;              // but for the cards
  models::Examples objects;                    // the rows that show an object of the task
  std::vector<metrics::UnitGrid> grids;        // [layer]: of the maps before the mask
  std::vector<std::vector<FilterCard>> cards;  // [layer]
  models::Position position;                   // the checkpoint's
  std::vector<models::FilterCategories> filter_categories;  // that the metrics went by
};
Dissection dissect(const runs::RunFolder& run,
                   const datasets::PartDataset& dataset,
                   const MeasureOptions& options,
                   const models::Resources& resources);

// Dissects a run and leaves findings.json, its draws and pictures/ in its folder, and in model.json
// the category each filter stands for. Ended before findings.json is written, it leaves the older
// one with all its pictures.
findings::RunFindings measure_run(const runs::RunFolder& run,
                                  const datasets::PartDataset& dataset,
                                  const MeasureOptions& options,
                                  const models::Resources& resources);

}  // namespace partwise::judging
