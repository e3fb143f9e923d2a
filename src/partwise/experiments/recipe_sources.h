#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace partwise::training {
struct Recipe;
}

namespace partwise::experiments {

// Where a recipe's options come from: given ones beat settings, settings the file, the file the
// defaults.
struct RecipeSources {
  std::string config;            // a JSON file
  std::vector<std::string> set;  // key=value
  nlohmann::json given = nlohmann::json::object();
};

// An unknown key or wrong value is an Error that names its place. base: options in place of the
// defaults.
training::Recipe recipe_of(const RecipeSources& sources,
                           const nlohmann::json& base = nlohmann::json::object());

}  // namespace partwise::experiments
