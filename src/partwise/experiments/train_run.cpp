#include "partwise/experiments/train_run.h"

#include "partwise/base/files.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/experiments/local_ranks.h"
#include "partwise/experiments/machine.h"
#include "partwise/findings/findings_file.h"
#include "partwise/models/checkpoint.h"
#include "partwise/models/run_data.h"
#include "partwise/runs/log_scalars.h"
#include "partwise/runs/longer_run.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/session.h"
#include "partwise/training/early_stop.h"
#include "partwise/training/log_rows.h"
#include "partwise/training/recipe.h"
#include "partwise/training/trainer.h"
#include "partwise/training/training_state.h"

namespace partwise::experiments {
namespace {

bool holds_run(const TrainRequest& request) {
  return std::filesystem::exists(std::filesystem::path(request.run) / "options.json");
}

// More epochs for a run: nothing else may change.
void lengthen(const TrainRequest& request,
              const training::Recipe& recipe,
              const datasets::PartDataset& dataset) {
  auto as_it_was = recipe;
  as_it_was.train.epochs =
      runs::RunFolder::open(request.run).options().value("epochs", recipe.train.epochs);
  if (recipe.train.epochs <= as_it_was.train.epochs) return;
  training::claim_run(request.run, as_it_was, make_manifest(dataset));
  findings::settle_findings(runs::RunFolder::open(request.run));
  runs::lengthen_run(request.run, recipe.train.epochs);
  say(fmt::format(
      "{}: {} epochs become {}; rates and warm-ups follow the new length, so this is not "
      "the run that {} epochs from the start would give",
      request.run, as_it_was.train.epochs, recipe.train.epochs, recipe.train.epochs));
}

// The leader makes the folder, the others find it.
training::Run shared_run(const TrainRequest& request,
                         const training::Recipe& recipe,
                         const datasets::PartDataset& dataset,
                         const tensors::Ranks& ranks) {
  if (!ranks.leads()) {
    ranks.meet();
    return {runs::RunFolder::open(request.run), recipe};
  }
  if (holds_run(request))
    lengthen(request, recipe, dataset);
  else
    training::require_init(recipe.train);
  auto run = training::claim_run(request.run, recipe, make_manifest(dataset));
  models::hold_to_its_data(run.folder, dataset, true);  // changed data was refused just now
  ranks.meet();
  return run;
}

TrainOutcome::Log read_log(const training::Run& run) {
  const auto at = models::newest_position(run.folder, false);
  const auto rows = training::rows_until(run.folder, at ? at->epoch : 0);
  TrainOutcome::Log log{std::ssize(rows)};
  if (!rows.empty()) log.accuracy = runs::scalar_at(rows.back(), "train_accuracy");
  const auto& options = run.recipe.train;
  log.best_epoch = training::judge_epochs(rows, options.stop_on, options.patience).best_epoch;
  if (log.best_epoch > 0) {
    const auto& best = rows[static_cast<std::size_t>(log.best_epoch) - 1].at("validation");
    log.best_images = best.at("images");
    log.best_accuracy = best.at("accuracy");
  }
  return log;
}

TrainOutcome train_here(const TrainRequest& request,
                        const training::Recipe& recipe,
                        const datasets::PartDataset& dataset,
                        const tensors::RankPlace& place) {
  if (place.rank > 0) set_listener(nullptr);  // the leader speaks for all
  auto machine = request.machine;
  if (machine.threads == 0 && place.local_count > 1)
    machine.threads = std::max(1, hardware_threads() / place.local_count);
  auto resources = start_session(machine);
  resources.device = tensors::device_of_rank(resources.device, place);
  resources.ranks = tensors::Ranks::join(place, resources.device);
  auto settled = to_json(training::in_force(recipe));
  const auto data = models::data_record(dataset);
  for (const char* key : {"data_hash", "images_hash"}) settled[key] = data.at(key);
  training::require_same_on_all(resources.ranks, settled);
  const auto run = shared_run(request, recipe, dataset, resources.ranks);
  training::train(run, dataset, resources);
  TrainOutcome outcome;
  if (resources.ranks.leads()) outcome.log = read_log(run);
  return outcome;
}

}  // namespace

TrainOutcome train_run(const TrainRequest& request) {
  const bool exists = holds_run(request);
  const auto recipe =
      exists && request.resume
          ? recipe_of(request.recipe,
                      parts::completed_record(runs::RunFolder::open(request.run).options()))
          : recipe_of(request.recipe);
  const auto dataset = datasets::load_dataset(request.data);
  training::require_trainable(recipe, dataset);
  const auto device = tensors::choose_device(request.machine.device);
  const auto place = tensors::rank_place_from_environment();
  ensure(request.ranks == 1 || place.count == 1 || is_local_rank(),
         "--ranks {} inside a process that is one of {} ranks already (WORLD_SIZE); leave it out",
         request.ranks, place.count);
  const int64_t count = std::max(request.ranks, place.count);
  ensure(count <= recipe.train.batch,
         "{} ranks, but a batch of {} images: every rank needs one; use fewer ranks", count,
         recipe.train.batch);
  ensure(!exists || request.resume || place.rank > 0,
         "{}: holds a run already; --resume goes on with it", request.run);
  if (request.ranks > 1 && place.count == 1) {
    tensors::require_ranks(device);
    return {run_local_ranks(request.ranks), std::nullopt};
  }
  try {
    return train_here(request, recipe, dataset, place);
  } catch (const tensors::LostRank&) {
    if (is_local_rank()) leave_quietly();
    throw;
  }
}

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
    ensure(config.is_object(), "{}: expected an object of options", sources.config);
    training::recipe_from_json(config, sources.config);  // its own errors name the file
    json.update(config);
  }
  for (const auto& setting : sources.set) take_setting(setting, json);
  json.update(sources.given);
  return training::recipe_from_json(json, "command line");
}

}  // namespace partwise::experiments
