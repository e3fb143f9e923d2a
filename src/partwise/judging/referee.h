#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/judging/dump.h"
#include "partwise/judging/layer_findings.h"

#include <nlohmann/json.hpp>

#include <string>

namespace partwise::judging {

struct RefereeOptions {
  std::string split;  // of the rows to judge; "": what the dump says, else all rows
  std::string task;   // "multi" or "binary:CATEGORY"; "": what the dump says, else multi
  LayerOptions measures;
};

// The metrics of `partwise measure` on a dump's activations. Rows of the train split give the
// filters' categories, where the dump does not, and the thresholds of the honest single-filter
// numbers. Gives {"format", "net", "task", "split", "rows", "train_rows", "training_images",
// "category_from", "categories", "layers": [layer], "notes": [text]}, the layer as in
// docs/findings.md. An Error names the dump and the row or filter that does not fit the data.
nlohmann::json judge(const Dump& dump,
                     const datasets::PartDataset& dataset,
                     const RefereeOptions& options);

}  // namespace partwise::judging
