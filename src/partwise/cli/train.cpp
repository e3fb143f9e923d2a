#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/cli/local_ranks.h"
#include "partwise/cli/recipe.h"
#include "partwise/cli/session.h"
#include "partwise/cli/version.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/runs/log_scalars.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/session.h"
#include "partwise/training/early_stop.h"
#include "partwise/training/trainer.h"

namespace partwise::cli {
namespace {

struct Flags {
  std::string data;
  std::string run;
  bool resume = false;
  int ranks = 1;
  RecipeFlags recipe;
  Common common;
};

bool holds_run(const Flags& flags) {
  return std::filesystem::exists(std::filesystem::path(flags.run) / "options.json");
}

// A run that goes on brings its own options; others are refused later on.
training::Recipe recipe_of(const Flags& flags) {
  if (!flags.resume || !holds_run(flags)) return recipe_of(flags.recipe);
  return recipe_of(flags.recipe, runs::RunFolder::open(flags.run).options());
}

// The leader makes the folder, the others find it.
runs::RunFolder shared_run(const Flags& flags,
                           const training::Recipe& recipe,
                           const tensors::Ranks& ranks) {
  if (!ranks.leads()) {
    ranks.meet();
    return runs::RunFolder::open(flags.run);
  }
  const bool exists = holds_run(flags);
  if (!exists) training::require_init(recipe.train);
  auto run = training::claim_run(flags.run, recipe, make_manifest(flags.data));
  ranks.meet();
  return run;
}

void train_here(const Flags& flags,
                const training::Recipe& recipe,
                const datasets::PartDataset& dataset,
                const tensors::RankPlace& place) {
  if (place.rank > 0) keep_quiet();
  const int threads = flags.common.threads > 0 || place.local_count == 1
                          ? flags.common.threads
                          : std::max(1, hardware_threads() / place.local_count);
  auto common = flags.common;
  common.threads = threads;
  auto resources = start_session(common);
  resources.device = tensors::device_of_rank(resources.device, place);
  resources.ranks = tensors::Ranks::join(place, resources.device);
  const auto run = shared_run(flags, recipe, resources.ranks);
  training::train(run, dataset, resources);
  if (!resources.ranks.leads()) return;
  const auto log = run.log();
  fmt::print("{}: {} epochs, training accuracy {:.3f}\n", flags.run, log.size(),
             log.empty() ? 0.0 : runs::scalar_at(log.back(), "train_accuracy"));
  const auto verdict = training::judge_epochs(log, recipe.train.stop_on, recipe.train.patience);
  if (verdict.best_epoch == 0) return;
  const auto& best = log[static_cast<std::size_t>(verdict.best_epoch) - 1].at("validation");
  fmt::print("best on {} validation images: epoch {}, accuracy {:.3f}\n",
             best.at("images").get<int64_t>(), verdict.best_epoch,
             best.at("accuracy").get<double>());
}

void train_command(const Flags& flags) {
  const auto recipe = recipe_of(flags);
  const auto dataset = datasets::load_dataset(flags.data);
  training::require_trainable(recipe.train, dataset);
  const auto device = tensors::choose_device(flags.common.device);
  const auto place = tensors::rank_place_from_environment();
  ensure(flags.ranks == 1 || place.count == 1 || is_local_rank(),
         "--ranks {} inside a process that is one of {} ranks already (WORLD_SIZE); leave it out",
         flags.ranks, place.count);
  const int64_t count = std::max(flags.ranks, place.count);
  ensure(count <= recipe.train.batch,
         "{} ranks, but a batch of {} images: every rank needs one; use fewer ranks", count,
         recipe.train.batch);
  const bool exists = holds_run(flags);
  ensure(!exists || flags.resume || place.rank > 0,
         "{}: holds a run already; --resume goes on with it", flags.run);
  if (flags.ranks > 1 && place.count == 1) {
    tensors::require_ranks(device);
    std::exit(run_local_ranks(flags.ranks));
  }
  try {
    train_here(flags, recipe, dataset, place);
  } catch (const tensors::LostRank&) {
    if (is_local_rank()) leave_quietly();
    throw;
  }
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
  command->add_flag("--resume", flags->resume, "go on with an interrupted run; its options stay");
  command
      ->add_option(
          "--ranks", flags->ranks,
          "processes of this machine that share every batch; over several machines: torchrun "
          "--no_python (docs/training.md)")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  add_common(*command, flags->common);
  command->callback([flags] { train_command(*flags); });
}

}  // namespace partwise::cli
