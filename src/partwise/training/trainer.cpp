#include "partwise/training/trainer.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/networks/feature_scale.h"
#include "partwise/tensors/precision.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"
#include "partwise/training/checkpoint.h"
#include "partwise/training/early_stop.h"
#include "partwise/training/examples.h"
#include "partwise/training/layer_rows.h"
#include "partwise/training/non_finite.h"
#include "partwise/training/optimizer.h"
#include "partwise/training/schedule.h"
#include "partwise/training/validation.h"

#include <chrono>
#include <cmath>
#include <numeric>

namespace partwise::training {

namespace {

constexpr auto kOptimizer = "optimizer.";
constexpr auto kDiagnostics = "diagnostics.";
constexpr int64_t kScaleImages = 64;

// Rows of epochs whose checkpoint was lost would be repeated.
std::vector<nlohmann::json> rows_until(const runs::RunFolder& run, int64_t epoch) {
  auto rows = run.log();
  std::erase_if(rows, [&](const auto& row) { return row.value("epoch", int64_t{0}) > epoch; });
  return rows;
}

Verdict judge(const std::vector<nlohmann::json>& rows, const TrainOptions& options) {
  return judge_epochs(rows, options.stop_on, options.patience);
}

// One training in progress.
class Training {
  using Clock = std::chrono::steady_clock;

 public:
  Training(const runs::RunFolder& run,
           const datasets::PartDataset& dataset,
           const Resources& resources)
      : run_(run),
        recipe_(recipe_from_json(run.options(), run.path() / "options.json")),
        task_(make_task(recipe_.train, dataset)),
        device_(resources.device),
        network_(make_network(recipe_, task_)),
        examples_(load_examples(
            dataset, task_, "train", network_.architecture().input_side, resources.threads)),
        optimizer_(prepare_optimizer()) {
    if (recipe_.train.validation_images > 0) {
      validation_.emplace(dataset, task_, recipe_.train, resources,
                          network_.architecture().input_side, examples_);
    }
    restore();
  }

  void run_epochs() {
    while (position_.epoch < recipe_.train.epochs) {
      const auto verdict = finish_epoch(run_epoch());
      if (!verdict.stop) continue;
      say(fmt::format("stopped after epoch {}: {} on the validation images was best in epoch {}",
                      position_.epoch, recipe_.train.stop_on, verdict.best_epoch));
      return;
    }
  }

 private:
  Optimizer prepare_optimizer() {
    tensors::require_device(device_);
    network_.to_device(device_);
    Optimizer optimizer(recipe_.train.optimizer, recipe_.train.weight_decay, network_.parameters());
    for (const auto& name : network_.backbone_parameters()) {
      optimizer.set_rate(name, recipe_.train.backbone_rate);
    }
    return optimizer;
  }

  void restore() {
    remove_abandoned_writes(run_.path());
    remove_abandoned_writes(run_.checkpoints());
    if (const auto found = newest_checkpoint(run_)) {
      load(*found);
    } else if (!recipe_.train.init.empty()) {
      start_from(load_init(recipe_.train));
    }
    rows_ = rows_until(run_, position_.epoch);
    run_.rewrite_log(rows_);
  }

  void load(const Checkpoint& checkpoint) {
    std::map<std::string, Tensor> optimizer;
    for (const auto& [name, tensor] : checkpoint.tensors) {
      if (name.starts_with(kOptimizer)) {
        optimizer.emplace(name.substr(std::string_view(kOptimizer).size()), tensor);
      }
    }
    network_.load_state(checkpoint.tensors);
    optimizer_.load_state(optimizer);
    for (auto& [name, layer] : network_.interpretable())
      layer.load_diagnostic_sums(checkpoint.tensors.at(kDiagnostics + name));
    position_ = checkpoint.position;
    saved_ = position_;
  }

  void start_from(const std::map<std::string, Tensor>& weights) {
    network_.load_backbone(weights);
    if (recipe_.train.init_scale == "keep") return;
    const auto some = examples_.pixels.slice(0, 0, kScaleImages).to(torch::Device(device_));
    const double scale = networks::feature_scale(network_, normalised(some));
    ensure(std::isfinite(scale) && scale > 0.0,
           "{}: its features on training images have scale {}; are these the net's weights?",
           recipe_.train.init, scale);
    const bool scaled = networks::scale_features(network_, 1.0 / scale);
    say(fmt::format("features of scale {:.3g}{}", scale,
                    scaled ? ", now 1" : " left as they are: skip connections mix the layers"));
  }

  void save() {
    Checkpoint checkpoint{position_, network_.state()};
    for (const auto& [name, tensor] : optimizer_.state())
      checkpoint.tensors.emplace(kOptimizer + name, tensor);
    for (const auto& [name, layer] : network_.interpretable())
      checkpoint.tensors.emplace(kDiagnostics + name, layer.diagnostic_sums());
    save_checkpoint(run_, checkpoint);
    saved_ = position_;
    saved_at_ = Clock::now();
  }

  bool checkpoint_is_due() const {
    const std::chrono::duration<double, std::ratio<60>> minutes = Clock::now() - saved_at_;
    return minutes.count() >= recipe_.train.checkpoint_minutes;
  }

  // The row comes before the checkpoint: killed in between, the epoch's end is repeated.
  Verdict finish_epoch(nlohmann::json row) {
    if (validation_) row["validation"] = validation_->measure(network_);
    run_.append_log(row);
    rows_.push_back(std::move(row));
    position_ = {position_.epoch + 1};
    const auto verdict = judge(rows_, recipe_.train);
    if (verdict.best_epoch == position_.epoch) save_best(run_, {position_, network_.state()});
    save();
    return verdict;
  }

  [[noreturn]] void stop_for_now(int64_t steps) {
    if (position_ != saved_) save();
    throw Interrupted(
        fmt::format("interrupted in epoch {} after step {} of {}, all of it saved; the same "
                    "command goes on from there (train: with --resume)",
                    position_.epoch + 1, position_.step, steps));
  }

  [[noreturn]] void stop_for_good(const std::string& what,
                                  int64_t step,
                                  const Tensor& images,
                                  const Tensor& category) {
    tensors::seed_generators(seed_for(2, step));
    const tensors::Precision precision(recipe_.train.precision, device_);
    throw Error(fmt::format(
        "{}: {} in epoch {}, step {}; first not finite: {}; lower learning_rate or strength",
        run_.path().string(), what, position_.epoch + 1, step + 1,
        non_finite_place(network_, images, category)));
  }

  uint64_t seed_for(uint64_t purpose, int64_t step) const {
    return derive_seed({static_cast<uint64_t>(recipe_.train.seed), purpose,
                        static_cast<uint64_t>(position_.epoch), static_cast<uint64_t>(step)});
  }

  std::vector<int64_t> epoch_order() const {
    std::vector<int64_t> order(static_cast<std::size_t>(examples_.rows()));
    std::iota(order.begin(), order.end(), int64_t{0});
    Random random(seed_for(1, 0));
    shuffle(order, random);
    return order;
  }

  nlohmann::json run_epoch() {
    const double factor = strength_factor(recipe_.parts, position_.epoch, recipe_.train.epochs);
    for (auto& [name, layer] : network_.interpretable()) layer.set_strength_factor(factor);
    const auto order = torch::tensor(epoch_order(), torch::kInt64);
    const int64_t batch = recipe_.train.batch;
    const int64_t steps = std::max<int64_t>(1, examples_.rows() / batch);
    Progress progress(
        fmt::format("{} epoch {}/{}", recipe_.train.arm, position_.epoch + 1, recipe_.train.epochs),
        examples_.rows(), "images");
    // As even as can be: a last batch of one image would have no variance to normalise by.
    const auto first_row = [&](int64_t step) { return step * examples_.rows() / steps; };
    progress.advance(first_row(position_.step));
    const double seconds_before = position_.seconds;
    const auto start = Clock::now();
    while (position_.step < steps) {
      if (interrupt_requested()) stop_for_now(steps);
      const auto rows = order.slice(0, first_row(position_.step), first_row(position_.step + 1));
      const auto [loss, right] = run_step(rows, position_.step, steps);
      position_.loss_sum += loss * static_cast<double>(rows.numel());
      position_.correct += right;
      ++position_.step;
      const std::chrono::duration<double> seconds = Clock::now() - start;
      position_.seconds = seconds_before + seconds.count();
      progress.note(fmt::format("loss {:.3f}", loss));
      progress.advance(rows.numel());
      if (position_.step < steps && checkpoint_is_due()) save();
    }
    const auto images = static_cast<double>(examples_.rows());
    return {{"epoch", position_.epoch + 1},
            {"loss", position_.loss_sum / images},
            {"train_accuracy", static_cast<double>(position_.correct) / images},
            {"learning_rate", learning_rate(steps - 1, steps)},
            {"seconds", position_.seconds},
            {"layers", take_layer_rows(network_)}};
  }

  double learning_rate(int64_t step, int64_t steps) const {
    return recipe_.train.learning_rate * warmup_cosine(position_.epoch * steps + step,
                                                       recipe_.train.epochs * steps,
                                                       recipe_.train.warmup);
  }

  Tensor forward(const Tensor& images, const Tensor& category) {
    const tensors::Precision precision(recipe_.train.precision, device_);
    const auto order =
        device_.starts_with("cuda") ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    return network_.train(images.contiguous(order), category).logits.to(torch::kFloat32);
  }

  std::pair<double, int64_t> run_step(const Tensor& rows, int64_t step, int64_t steps) {
    tensors::seed_generators(seed_for(2, step));
    const auto pixels =
        augmented(examples_.pixels.index_select(0, rows), recipe_.train.jitter, seed_for(3, step));
    const auto category = examples_.category.index_select(0, rows).to(torch::Device(device_));
    optimizer_.zero_gradients();
    const auto images = normalised(pixels.to(torch::Device(device_)));
    const auto logits = forward(images, category);
    const auto loss = task_loss(task_, logits, category);
    const auto value = loss.item<double>();
    if (!std::isfinite(value))
      stop_for_good(fmt::format("the loss became {}", value), step, images, category);
    loss.backward();
    const double norm = optimizer_.limit_gradients(recipe_.train.gradient_limit);
    if (!std::isfinite(norm))
      stop_for_good(fmt::format("the gradient's norm became {}", norm), step, images, category);
    optimizer_.step(learning_rate(step, steps));
    const auto decided = decision_scores(task_, logits.detach()).argmax(1);
    return {value, decided.eq(decision_classes(task_, category)).sum().item<int64_t>()};
  }

  const runs::RunFolder& run_;
  Recipe recipe_;
  Task task_;
  std::string device_;
  networks::Network network_;
  Examples examples_;
  Optimizer optimizer_;
  std::optional<Validation> validation_;
  Position position_;
  Position saved_;  // the newest checkpoint's
  Clock::time_point saved_at_ = Clock::now();
  std::vector<nlohmann::json> rows_;  // of the log
};

}  // namespace

void require_trainable(const TrainOptions& options, const datasets::PartDataset& dataset) {
  const auto task = make_task(options, dataset);
  require_classes(dataset, task);
  const bool watched = options.validation_images > 0;
  ensure(watched || options.stop_on == "none",
         "stop_on = {} needs images to look at; set validation_images too", options.stop_on);
  if (watched) require_classes(with_validation(dataset, task, options), task);
}

bool is_trained(const runs::RunFolder& run) {
  const auto options = recipe_from_json(run.options(), run.path() / "options.json").train;
  const auto newest = newest_checkpoint(run);
  if (!newest) return false;
  const auto epoch = newest->position.epoch;
  return epoch >= options.epochs || judge(rows_until(run, epoch), options).stop;
}

void train(const runs::RunFolder& run,
           const datasets::PartDataset& dataset,
           const Resources& resources) {
  if (is_trained(run)) return;
  const auto options = recipe_from_json(run.options(), run.path() / "options.json").train;
  require_trainable(options, dataset);
  if (options.validation_images == 0) {
    Training(run, dataset, resources).run_epochs();
  } else {
    const auto task = make_task(options, dataset);
    Training(run, with_validation(dataset, task, options), resources).run_epochs();
  }
}

networks::Network load_network(const runs::RunFolder& run,
                               const Task& task,
                               const std::string& checkpoint) {
  const auto recipe = recipe_from_json(run.options(), run.path() / "options.json");
  const auto found = load_checkpoint(run, checkpoint);
  auto network = make_network(recipe, task);
  network.load_state(found.tensors);
  return network;
}

}  // namespace partwise::training
