#pragma once

#include "partwise/parts/part_option_fields.h"
#include "partwise/tensors/tensor.h"
#include "partwise/training/train_options.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace partwise::training {

// All that decides the outcome of a run, as it stands in options.json.
struct Recipe {
  TrainOptions train;
  parts::PartOptions parts;
};
nlohmann::json to_json(const Recipe& recipe);
Recipe recipe_from_json(const nlohmann::json& json, const std::string& place);

// What takes effect: only the interpretable arm has a filter loss, a vote and keep_alive; in all
// others they are 0.
Recipe in_force(Recipe recipe);

// Weights to start from that cannot be had are an Error, before anything is written; says what a
// file gave.
void require_init(const TrainOptions& options);

// Those weights, by name; all of them finite.
std::map<std::string, Tensor> load_init(const TrainOptions& options);

}  // namespace partwise::training
