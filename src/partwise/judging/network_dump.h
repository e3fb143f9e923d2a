#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/models/resources.h"
#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace partwise::judging {

struct DumpOptions {
  std::string layer;  // by name; a wrong one lists those there are
  std::string split = "test";
  std::string checkpoint = "last";  // or "best"
  bool train_rows = false;          // behind the split's rows also those of the train split
  bool half = false;                // f16 in place of f32
};

struct DumpSize {
  int64_t rows = 0;
  int64_t filters = 0;
  int64_t side = 0;
};

// A layer's activations over a split as a file that `judging::read_dump` and other programs read.
// No more than a batch of them is in memory.
DumpSize dump_layer(const runs::RunFolder& run,
                    const datasets::PartDataset& dataset,
                    const DumpOptions& options,
                    const std::filesystem::path& out,
                    const models::Resources& resources);

}  // namespace partwise::judging
