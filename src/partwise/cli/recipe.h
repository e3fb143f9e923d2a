#pragma once

#include "partwise/cli/command.h"
#include "partwise/training/trainer.h"

#include <string>
#include <vector>

namespace partwise::cli {

// Where a recipe's options come from: flags beat settings, settings the file, the file the
// defaults.
struct RecipeFlags {
  std::string config;            // a JSON file
  std::vector<std::string> set;  // key=value
  nlohmann::json given = nlohmann::json::object();
};

// --config and --set.
void add_recipe_flags(CLI::App& app, RecipeFlags& flags);

// An unknown key or wrong value is an Error that names its place. base: options in place of the
// defaults.
training::Recipe recipe_of(const RecipeFlags& flags,
                           const nlohmann::json& base = nlohmann::json::object());

}  // namespace partwise::cli
