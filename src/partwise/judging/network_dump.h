#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/judging/measure_options.h"
#include "partwise/models/examples.h"
#include "partwise/runs/run_folder.h"

#include <filesystem>

namespace partwise::judging {

// A layer's activations over a split as a file that `judging::read_dump` and other programs read.
// No more than a batch of them is in memory; an interrupt ends it behind the running one, and
// leaves nothing.
DumpSize dump_layer(const runs::RunFolder& run,
                    const datasets::PartDataset& dataset,
                    const DumpOptions& options,
                    const std::filesystem::path& out,
                    const models::Resources& resources);

}  // namespace partwise::judging
