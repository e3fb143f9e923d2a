#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/cli/version.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/tensors/session.h"
#include "partwise/training/trainer.h"

namespace partwise::cli {
namespace {

struct Flags {
  std::string data;
  std::string run;
  std::string config;
  std::vector<std::string> set;
  bool resume = false;
  nlohmann::json given = nlohmann::json::object();
  Common common;
};

// key=value, the value read as JSON where it is JSON (3, 0.1, true) and as text otherwise.
void take_setting(const std::string& setting, nlohmann::json& into) {
  const auto equals = setting.find('=');
  ensure(equals != std::string::npos && equals > 0, "--set {}: expected key=value", setting);
  const auto text = setting.substr(equals + 1);
  const auto value = nlohmann::json::parse(text, nullptr, false);
  into[setting.substr(0, equals)] =
      value.is_discarded() || value.is_structured() ? nlohmann::json(text) : value;
}

bool holds_run(const Flags& flags) {
  return std::filesystem::exists(std::filesystem::path(flags.run) / "options.json");
}

// A run that goes on brings its own options; others are refused later on.
training::Recipe recipe_of(const Flags& flags) {
  auto json = to_json(training::Recipe{});
  if (flags.resume && holds_run(flags)) json.update(runs::RunFolder::open(flags.run).options());
  if (!flags.config.empty()) {
    const auto config = read_json(flags.config);
    training::recipe_from_json(config, flags.config);  // its own errors name the file
    json.update(config);
  }
  for (const auto& setting : flags.set) take_setting(setting, json);
  json.update(flags.given);
  return training::recipe_from_json(json, "command line");
}

void train_command(const Flags& flags) {
  const auto recipe = recipe_of(flags);
  const auto dataset = datasets::load_dataset(flags.data);
  training::require_trainable(recipe.train, dataset);  // before anything is written
  tensors::require_device(flags.common.device);
  tensors::start_session(flags.common.threads);
  const bool exists = holds_run(flags);
  ensure(!exists || flags.resume, "{}: holds a run already; --resume goes on with it", flags.run);
  if (!exists) training::require_init(recipe.train);
  const auto run = runs::RunFolder::create(flags.run, to_json(recipe), make_manifest(flags.data));
  training::train(run, dataset, {flags.common.device, flags.common.threads});
  const auto log = run.log();
  fmt::print("{}: {} epochs, training accuracy {:.3f}\n", flags.run, log.size(),
             log.empty() ? 0.0 : log.back().value("train_accuracy", 0.0));
  const auto verdict = training::judge_epochs(log, recipe.train.stop_on, recipe.train.patience);
  if (verdict.best_epoch == 0) return;
  const auto& best = log[static_cast<std::size_t>(verdict.best_epoch) - 1].at("validation");
  fmt::print("best on {} validation images: epoch {}, accuracy {:.3f}\n",
             best.at("images").get<int64_t>(), verdict.best_epoch,
             best.at("accuracy").get<double>());
}

}  // namespace

void add_train(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "train", "Train one network.",
                              "partwise train animals runs/fox --task binary:fox --loss logistic");
  command->add_option("data", flags->data, "folder of the part-dataset")->required();
  command->add_option("run", flags->run, "folder of the run")->required();
  add_fields<training::TrainOptions>(*command, flags->given);
  add_fields<parts::PartOptions>(*command, flags->given);
  command->add_option("--config", flags->config, "JSON file of options; flags beat it");
  command->add_option("--set", flags->set, "key=value, any option by its name in options.json");
  command->add_flag("--resume", flags->resume, "go on with an interrupted run; its options stay");
  add_common(*command, flags->common);
  command->callback([flags] { train_command(*flags); });
}

}  // namespace partwise::cli
