#pragma once

#include "partwise/models/checkpoint.h"
#include "partwise/models/examples.h"
#include "partwise/models/task.h"
#include "partwise/networks/network.h"
#include "partwise/parts/part_option_fields.h"
#include "partwise/runs/run_folder.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace partwise::models {

// How an object's crop becomes the network's input: side x side pixels in RGB order, each channel
// (x / 255 - mean) / spread.
struct InputRule {
  int64_t side = 0;
  std::vector<double> mean = kPixelMean;
  std::vector<double> spread = kPixelSpread;
};

// What a network is apart from its weights: model.json in its run folder (docs/runs.md).
struct Design {
  std::string net;
  networks::Arm arm = networks::Arm::interpretable;
  networks::HeadOptions head;
  parts::PartOptions parts;  // in force: an arm without the filter loss has strength 0
  Task task;
  InputRule input;
  int64_t seed = 1;  // the weights before training are drawn from it
};

// What a run's options (options.json) say of its network, trained on this dataset.
Design make_design(const nlohmann::json& options, const datasets::PartDataset& dataset);

// Its network before training.
networks::Network draw_network(const Design& design);

// Two rules say which category a filter stands for, and they may differ:
//   memory         the layer's own, from running means over the batches it was trained on, by
//                  parts.assignment: what the filter loss and an exported file go by. Layers
//                  without a mask have none.
//   training_rows  argmax_c E sum x over the training rows as they are (see view_training): what
//                  every metric goes by, in every arm.
enum class CategoryRule { memory, training_rows };
struct FilterCategories {
  std::string layer;
  CategoryRule rule = CategoryRule::memory;
  std::vector<int64_t> category;  // [filter]: index into the task's categories
};
std::vector<FilterCategories> remembered_categories(const networks::Network& network);

// A network with its weights.
struct Model {
  Design design;
  networks::Network network;
  Position position;  // how far its training had come
  std::vector<FilterCategories> categories;
};

// Writes model.json, or holds the run to the one it has: an Error where the dataset asks for
// another network than the run began with.
void claim_model(const runs::RunFolder& run, const Design& design);
// Writes into model.json which categories the filters of the checkpoint at `position` stand for, in
// place of what the same rule said of these layers before.
void record_categories(const runs::RunFolder& run,
                       const std::vector<FilterCategories>& categories,
                       const Position& position);

// What model.json says. A run of an older program has none: its network then follows from its
// options and its dataset, in `data` or where its manifest says; an Error where that is gone.
Design design_of(const runs::RunFolder& run, const std::filesystem::path& data = {});

// The network of a run as its newest checkpoint ("last") or its best epoch ("best") left it; an
// Error if there is none. No dataset is needed but for a run of an older program.
Model open_model(const runs::RunFolder& run,
                 const std::string& checkpoint = "last",
                 const std::filesystem::path& data = {});

struct Exported {
  std::string net;
  std::string arm;
  int64_t epochs = 0;  // the checkpoint's
  int64_t bytes = 0;
};

// Writes the network of a run as ONNX or, by the ending of `out`, as safetensors, with what a
// stranger needs to feed it and to read its answer (docs/export.md). checkpoint, data: see
// open_model.
Exported export_run(const runs::RunFolder& run,
                    const std::string& checkpoint,
                    const std::filesystem::path& data,
                    const std::filesystem::path& out);

}  // namespace partwise::models

template <>
inline constexpr auto partwise::kWords<partwise::models::CategoryRule> =
    partwise::words("memory", "training_rows");
