#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/judging/dissection.h"
#include "partwise/runs/run_folder.h"

namespace partwise::cli {

// Dissects a run and leaves findings.json and pictures/ in its folder.
void measure_run(const runs::RunFolder& run,
                 const datasets::PartDataset& dataset,
                 const judging::MeasureOptions& options,
                 const models::Resources& resources);

// A table of the runs' findings, one row a layer.
std::string findings_table(const std::vector<runs::RunFolder>& runs);

}  // namespace partwise::cli
