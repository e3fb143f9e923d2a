#include "partwise/experiments/recipe_sources.h"

#include "partwise/base/files.h"
#include "partwise/training/recipe.h"

namespace partwise::experiments {
namespace {

// key=value, the value read as JSON where it is JSON (3, 0.1, true) and as text otherwise.
void take_setting(const std::string& setting, nlohmann::json& into) {
  const auto equals = setting.find('=');
  ensure(equals != std::string::npos && equals > 0, "--set {}: expected key=value", setting);
  const auto text = setting.substr(equals + 1);
  const auto value = nlohmann::json::parse(text, nullptr, false);
  into[setting.substr(0, equals)] =
      value.is_discarded() || value.is_structured() ? nlohmann::json(text) : value;
}

}  // namespace

training::Recipe recipe_of(const RecipeSources& sources, const nlohmann::json& base) {
  auto json = base;
  if (!sources.config.empty()) {
    const auto config = read_json(sources.config);
    training::recipe_from_json(config, sources.config);  // its own errors name the file
    json.update(config);
  }
  for (const auto& setting : sources.set) take_setting(setting, json);
  json.update(sources.given);
  return training::recipe_from_json(json, "command line");
}

}  // namespace partwise::experiments
