#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/experiments/machine.h"
#include "partwise/runs/run_folder.h"

#include <string>
#include <vector>

namespace partwise::judging {
struct MeasureOptions;
}
namespace partwise::experiments {

// Dissects a run and leaves findings.json and pictures/ in its folder, and in model.json the
// category each filter stands for.
void measure_run(const runs::RunFolder& run,
                 const datasets::PartDataset& dataset,
                 const judging::MeasureOptions& options,
                 const models::Resources& resources);

// Several runs, each on the dataset in `data` or, where that is empty, on its own.
std::vector<runs::RunFolder> measure_runs(const std::vector<std::string>& folders,
                                          const std::string& data,
                                          const judging::MeasureOptions& options,
                                          const Machine& machine);

}  // namespace partwise::experiments
