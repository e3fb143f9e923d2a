#include "partwise/cli/recipe.h"
#include "partwise/cli/session.h"
#include "partwise/cli/version.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/training/trainer.h"

namespace partwise::cli {
namespace {

struct Flags {
  std::string data;
  std::string run;
  bool resume = false;
  RecipeFlags recipe;
  Common common;
};

void train_command(const Flags& flags) {
  const auto recipe = recipe_of(flags.recipe);
  const auto dataset = datasets::load_dataset(flags.data);
  training::require_trainable(recipe.train, dataset);
  const auto resources = start_session(flags.common);
  const bool exists = std::filesystem::exists(std::filesystem::path(flags.run) / "options.json");
  ensure(!exists || flags.resume, "{}: holds a run already; --resume goes on with it", flags.run);
  if (!exists) training::require_init(recipe.train);
  const auto run = runs::RunFolder::create(flags.run, to_json(recipe), make_manifest(flags.data));
  training::train(run, dataset, resources);
  const auto log = run.log();
  fmt::print("{}: {} epochs, training accuracy {:.3f}\n", flags.run, log.size(),
             log.empty() ? 0.0 : log.back().value("train_accuracy", 0.0));
}

}  // namespace

void add_train(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "train", "Train one network.",
                              "partwise train animals runs/fox --task binary:fox --loss logistic");
  command->add_option("data", flags->data, "folder of the part-dataset")->required();
  command->add_option("run", flags->run, "folder of the run")->required();
  add_fields<training::TrainOptions>(*command, flags->recipe.given);
  add_fields<parts::PartOptions>(*command, flags->recipe.given);
  add_recipe_flags(*command, flags->recipe);
  command->add_flag("--resume", flags->resume, "go on with an interrupted run");
  add_common(*command, flags->common);
  command->callback([flags] { train_command(*flags); });
}

}  // namespace partwise::cli
