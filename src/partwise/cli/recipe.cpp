#include "partwise/cli/recipe.h"

#include "partwise/base/files.h"

namespace partwise::cli {
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

void add_recipe_flags(CLI::App& app, RecipeFlags& flags) {
  app.add_option("--config", flags.config, "JSON file of options; flags beat it");
  app.add_option("--set", flags.set, "key=value, any option by its name in options.json");
}

training::Recipe recipe_of(const RecipeFlags& flags, const nlohmann::json& base) {
  auto json = base;
  if (!flags.config.empty()) {
    const auto config = read_json(flags.config);
    training::recipe_from_json(config, flags.config);  // its own errors name the file
    json.update(config);
  }
  for (const auto& setting : flags.set) take_setting(setting, json);
  json.update(flags.given);
  return training::recipe_from_json(json, "command line");
}

}  // namespace partwise::cli
