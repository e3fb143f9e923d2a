#include "partwise/base/json_text.h"
#include "partwise/cli/command.h"
#include "partwise/experiments/train_run.h"
#include "partwise/parts/part_option_fields.h"
#include "partwise/training/train_options.h"

#include <cstdlib>

namespace partwise::cli {
namespace {

void train_command(const experiments::TrainRequest& request, bool json) {
  const auto [exit_code, log] = experiments::train_run(request);
  if (exit_code != 0) std::exit(exit_code);
  if (!log) return;
  if (json) {
    nlohmann::json all{
        {"run", request.run}, {"epochs", log->epochs}, {"train_accuracy", log->accuracy}};
    if (log->best_epoch > 0)
      all["best"] = {{"epoch", log->best_epoch},
                     {"validation_images", log->best_images},
                     {"accuracy", log->best_accuracy}};
    fmt::print("{}\n", json_text(all));
    return;
  }
  fmt::print("{}: {} epochs, training accuracy {:.3f}\n", request.run, log->epochs, log->accuracy);
  if (log->best_epoch == 0) return;
  fmt::print("best on {} validation images: epoch {}, accuracy {:.3f}\n", log->best_images,
             log->best_epoch, log->best_accuracy);
}

}  // namespace

void add_train(CLI::App& app) {
  const auto request = std::make_shared<experiments::TrainRequest>();
  auto* command = add_command(app, "train", "Train one network.",
                              "partwise train animals runs/fox --task binary:fox --loss logistic");
  command->add_option("data", request->data, "folder of the part-dataset")->required();
  command->add_option("run", request->run, "folder of the run")->required();
  add_fields<training::TrainOptions>(*command, request->recipe.given);
  add_fields<parts::PartOptions>(*command, request->recipe.given);
  add_recipe_flags(*command, request->recipe);
  command->add_flag("--resume", request->resume,
                    "go on with an interrupted run; its options stay, but for a larger --epochs");
  command
      ->add_option(
          "--ranks", request->ranks,
          "processes of this machine that share every batch; over several machines: torchrun "
          "--no_python (docs/training.md)")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  add_machine(*command, request->machine);
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print the outcome as one JSON object");
  command->callback([request, json] { train_command(*request, *json); });
}

}  // namespace partwise::cli
