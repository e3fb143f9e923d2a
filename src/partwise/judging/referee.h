#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/findings/run_findings.h"
#include "partwise/judging/dump.h"
#include "partwise/metrics/catalogue.h"

#include <string>

namespace partwise::judging {

struct RefereeOptions {
  std::string split;  // of the rows to judge; "": what the dump says, else all rows
  std::string task;   // "multi" or "binary:CATEGORY"; "": what the dump says, else multi
  metrics::LayerOptions measures;
};

// The metrics of `partwise measure` on a dump's activations. Rows of the train split give the
// filters' categories, where the dump does not, and the thresholds of the honest single-filter
// numbers. Nothing is known of a network: only the layer, category_from and notes are found. An
// Error names the dump and the row or filter that does not fit the data.
findings::RunFindings judge(const Dump& dump,
                            const datasets::PartDataset& dataset,
                            const RefereeOptions& options);

}  // namespace partwise::judging
