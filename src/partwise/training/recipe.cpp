#include "partwise/training/recipe.h"

#include "partwise/base/progress.h"
#include "partwise/models/checkpoint.h"
#include "partwise/networks/pretrained.h"
#include "partwise/runs/run_folder.h"
#include "partwise/training/training_state.h"

#include <filesystem>

namespace partwise::training {

namespace fs = std::filesystem;

nlohmann::json to_json(const Recipe& recipe) {
  auto json = partwise::to_json(recipe.train);
  json.update(partwise::to_json(recipe.parts));
  return json;
}

Recipe recipe_from_json(const nlohmann::json& json, const std::string& place) {
  Recipe recipe;
  auto train = nlohmann::json::object();
  auto parts = nlohmann::json::object();
  const auto is_part = partwise::to_json(recipe.parts);
  for (const auto& [key, value] : json.items())
    (is_part.contains(key) ? parts : train)[key] = value;
  merge_json(recipe.train, train, place);
  recipe.parts = parts::part_options_from(parts, place);
  return recipe;
}

Recipe in_force(Recipe recipe) {
  if (!networks::has_filter_loss(recipe.train.arm))
    recipe.parts.strength = recipe.parts.vote = recipe.parts.keep_alive = 0.0;
  return recipe;
}

std::map<std::string, Tensor> load_init(const TrainOptions& options) {
  const fs::path path = options.init;
  auto state = fs::is_directory(path)
                   ? models::load_checkpoint(runs::RunFolder::open(path), "last").tensors
                   : networks::read_pretrained(options.net, path, options.init_input).state;
  require_finite_weights(state, path.string());
  return state;
}

void require_init(const TrainOptions& options) {
  if (options.init.empty()) return;
  if (fs::is_directory(options.init)) {
    const auto net = runs::RunFolder::open(options.init).options().value("net", options.net);
    ensure(net == options.net, "{}: a run of net {}, whose weights do not fit net {}; say --net {}",
           options.init, net, options.net, net);
    load_init(options);
    return;
  }
  const auto file = networks::read_pretrained(options.net, options.init, options.init_input);
  require_finite_weights(file.state, options.init);
  say(file.summary);
}

}  // namespace partwise::training
