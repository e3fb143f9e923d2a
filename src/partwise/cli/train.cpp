#include "partwise/base/files.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/cli/local_ranks.h"
#include "partwise/cli/version.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/tensors/ranks.h"
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
  int ranks = 1;
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

training::Recipe recipe_of(const Flags& flags) {
  auto json = to_json(training::Recipe{});
  if (!flags.config.empty()) {
    const auto config = read_json(flags.config);
    training::recipe_from_json(config, flags.config);  // its own errors name the file
    json.update(config);
  }
  for (const auto& setting : flags.set) take_setting(setting, json);
  json.update(flags.given);
  return training::recipe_from_json(json, "command line");
}

// The leader makes the folder, the others find it.
runs::RunFolder shared_run(const Flags& flags,
                           const training::Recipe& recipe,
                           const tensors::Ranks& ranks) {
  if (!ranks.leads()) {
    ranks.meet();
    return runs::RunFolder::open(flags.run);
  }
  const bool exists = std::filesystem::exists(std::filesystem::path(flags.run) / "options.json");
  if (!exists) training::require_init(recipe.train);
  auto run = runs::RunFolder::create(flags.run, to_json(recipe), make_manifest(flags.data));
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
  tensors::start_session(threads);
  const auto device = tensors::device_of_rank(flags.common.device, place);
  const auto ranks = tensors::Ranks::join(place, device);
  const auto run = shared_run(flags, recipe, ranks);
  auto resources = flags.common.resources();
  resources.device = device;
  resources.threads = threads;
  resources.ranks = ranks;
  training::train(run, dataset, resources);
  if (!ranks.leads()) return;
  const auto log = run.log();
  fmt::print("{}: {} epochs, training accuracy {:.3f}\n", flags.run, log.size(),
             log.empty() ? 0.0 : log.back().value("train_accuracy", 0.0));
}

void train_command(const Flags& flags) {
  const auto recipe = recipe_of(flags);
  const auto dataset = datasets::load_dataset(flags.data);
  training::make_task(recipe.train,
                      dataset);  // impossible tasks are refused before anything is written
  tensors::require_device(flags.common.device);
  const auto place = tensors::rank_place_from_environment();
  ensure(flags.ranks == 1 || place.count == 1 || is_local_rank(),
         "--ranks {} inside a process that is one of {} ranks already (WORLD_SIZE); leave it out",
         flags.ranks, place.count);
  const int64_t count = std::max(flags.ranks, place.count);
  ensure(count <= recipe.train.batch,
         "{} ranks, but a batch of {} images: every rank needs one; use fewer ranks", count,
         recipe.train.batch);
  const bool exists = std::filesystem::exists(std::filesystem::path(flags.run) / "options.json");
  ensure(!exists || flags.resume || place.rank > 0,
         "{}: holds a run already; --resume goes on with it", flags.run);
  if (flags.ranks > 1 && place.count == 1) {
    tensors::require_ranks(flags.common.device);
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
  add_fields<training::TrainOptions>(*command, flags->given);
  add_fields<parts::PartOptions>(*command, flags->given);
  command->add_option("--config", flags->config, "JSON file of options; flags beat it");
  command->add_option("--set", flags->set, "key=value, any option by its name in options.json");
  command->add_flag("--resume", flags->resume, "go on with an interrupted run");
  command
      ->add_option(
          "--ranks", flags->ranks,
          "processes of this machine that share every batch; over several machines: torchrun "
          "--no-python (docs/training.md)")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  add_common(*command, flags->common);
  command->callback([flags] { train_command(*flags); });
}

}  // namespace partwise::cli
