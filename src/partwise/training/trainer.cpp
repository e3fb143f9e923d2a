#include "partwise/training/trainer.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/interpretable.h"
#include "partwise/models/examples.h"
#include "partwise/networks/pretrained.h"
#include "partwise/runs/run_folder.h"
#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/step_graph.h"
#include "partwise/tensors/torch.h"
#include "partwise/training/augmentation.h"
#include "partwise/training/early_stop.h"
#include "partwise/training/log_rows.h"
#include "partwise/training/optimizer.h"
#include "partwise/training/rates.h"
#include "partwise/training/schedule.h"
#include "partwise/training/training_state.h"
#include "partwise/training/validation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <optional>

namespace partwise::training {

namespace {

constexpr int64_t kScaleImages = 64;
constexpr std::size_t kStepsAhead = 2;  // of what is known of their loss, on a GPU

// Every number read from a GPU waits for all it has been asked to do; these wait once.
std::vector<double> read_together(const std::vector<Tensor>& numbers) {
  std::vector<Tensor> wide;
  wide.reserve(numbers.size());
  for (const auto& number : numbers) wide.push_back(number.detach().to(torch::kFloat64));
  const auto read = torch::stack(wide).cpu();
  return {read.data_ptr<double>(), read.data_ptr<double>() + read.numel()};
}

Verdict judge(const std::vector<nlohmann::json>& rows, const TrainOptions& options) {
  return judge_epochs(rows, options.stop_on, options.patience);
}

// One training in progress.
class Training {
  using Clock = std::chrono::steady_clock;

 public:
  Training(const Run& run,
           const models::Design& design,
           const datasets::PartDataset& dataset,
           const models::Resources& resources)
      : run_(run.folder),
        recipe_(run.recipe),
        task_(design.task),
        device_(resources.device),
        threads_(resources.threads),
        ranks_(resources.ranks),
        network_(models::draw_network(design)),
        examples_(models::load_examples(dataset,
                                        task_,
                                        "train",
                                        network_.architecture().input_side,
                                        resources.threads,
                                        resources.cache)),
        optimizer_(prepare_optimizer()),
        gradient_sum_(ranks_, network_.parameters_in_order()),
        graph_(recipe_.train.replay) {
    const int64_t images = shuffled_rows().numel();
    const int64_t fewest = images / steps_over(images);
    ensure(fewest >= ranks_.count(),
           "{} ranks, but a batch of {} images: every rank needs one; use fewer ranks",
           ranks_.count(), fewest);
    if (ranks_.leads() && recipe_.train.validation_images > 0) {
      validation_.emplace(dataset, task_, recipe_.train, resources,
                          network_.architecture().input_side, examples_);
    }
    if (ranks_.leads()) restore();
    take_from_leader(ranks_, network_, optimizer_, position_);
  }

  void run_epochs() {
    while (position_.epoch < recipe_.train.epochs) {
      auto row = run_epoch();
      require_equal_weights(ranks_, network_);
      position_ = {position_.epoch + 1};
      if (ranks_.leaders(ranks_.leads() && conclude_epoch(std::move(row)))) return;
    }
  }

 private:
  Optimizer prepare_optimizer() {
    tensors::require_device(device_);
    network_.to_device(device_);
    network_.set_ranks(ranks_);
    const auto shares = models::category_shares(task_, examples_.category);
    for (const auto& [name, layer] : network_.interpretable()) layer->set_category_shares(shares);
    Optimizer optimizer(recipe_.train.optimizer, recipe_.train.weight_decay, network_.parameters());
    for (const auto& [name, factor] : rate_factors(recipe_.train, network_.architecture())) {
      optimizer.set_rate(name, factor);
    }
    return optimizer;
  }

  void restore() {
    if (const auto found = models::newest_checkpoint(run_)) {
      position_ = saved_ = unpack(*found, network_, optimizer_);
    } else if (!recipe_.train.init.empty()) {
      start_from(load_init(recipe_.train));
    }
    rows_ = rows_until(run_, position_.epoch);
    run_.rewrite_log(rows_);
  }

  void start_from(const std::map<std::string, Tensor>& weights) {
    network_.load_backbone(weights);
    if (recipe_.train.init_scale == InitScale::keep) return;
    const auto some = examples_.pixels.slice(0, 0, kScaleImages).to(torch::Device(device_));
    const double scale = networks::feature_scale(network_, models::normalised(some));
    ensure(std::isfinite(scale) && scale > 0.0,
           "{}: its features on training images have scale {}; are these the net's weights?",
           recipe_.train.init, scale);
    const bool scaled = networks::scale_features(network_, 1.0 / scale);
    say(fmt::format("features of scale {:.3g}{}", scale,
                    scaled ? ", now 1" : " left as they are: skip connections mix the layers"));
  }

  // A step on a GPU whose numbers are on their way.
  struct ComingStep {
    tensors::ComingNumbers numbers;  // loss, gradient norm, how many were right
    int64_t step = 0;
    Tensor rows;
    Tensor pixels;
  };

  // What the steps of one batch size read and write on a GPU: tensors that stay where they are.
  struct Resident {
    Tensor pixels;    // uint8
    Tensor category;  // int64
    Tensor numbers;   // float64 [3]
  };

  // The checkpoint comes last: after it a run may count as trained, and nothing is written any
  // more.
  void save() {
    models::record_categories(run_, models::remembered_categories(network_), position_);
    models::save_checkpoint(run_, pack(network_, optimizer_, position_));
    saved_ = position_;
    saved_at_ = Clock::now();
  }

  bool checkpoint_is_due() const {
    const std::chrono::duration<double, std::ratio<60>> minutes = Clock::now() - saved_at_;
    return minutes.count() >= recipe_.train.checkpoint_minutes;
  }

  // Whether to stop early. The row comes before the checkpoint: killed in between, the epoch's end
  // is repeated.
  bool conclude_epoch(nlohmann::json row) {
    if (validation_) row["validation"] = validation_->measure(network_);
    run_.append_log(row);
    rows_.push_back(std::move(row));
    if (const auto warning = runaway_warning(rows_)) say(*warning);
    for (const auto& warning : layer_warnings(rows_, task_.categories, recipe_.parts.assignment))
      say(warning);
    const auto verdict = judge(rows_, recipe_.train);
    if (verdict.best_epoch == position_.epoch)
      models::save_best(run_, {position_, network_.state()});
    save();
    if (verdict.stop) {
      say(fmt::format("stopped after epoch {}: {} on the validation images was best in epoch {}",
                      position_.epoch, word_of(recipe_.train.stop_on), verdict.best_epoch));
    }
    return verdict.stop;
  }

  [[noreturn]] void stop_for_now(int64_t steps) {
    wait_for_numbers(0);
    if (ranks_.leads() && position_ != saved_) save();
    throw Interrupted(
        fmt::format("interrupted in epoch {} after step {} of {}, all of it saved; the same "
                    "command goes on from there (train: with --resume)",
                    position_.epoch + 1, position_.step, steps));
  }

  [[noreturn]] void stop_for_good(const std::string& what,
                                  int64_t step,
                                  const Tensor& images,
                                  const Tensor& category) {
    network_.set_ranks({});  // each looks at its own images
    tensors::seed_generators(seed_for(2, step));
    const tensors::PrecisionScope precision(recipe_.train.precision, device_);
    throw Error(fmt::format(
        "{}: {} in epoch {}, step {}; first not finite: {}; lower learning_rate or strength",
        run_.path().string(), what, position_.epoch + 1, step + 1,
        non_finite_place(network_, images, category)));
  }

  uint64_t seed_for(uint64_t purpose, int64_t step) const {
    return derive_seed({static_cast<uint64_t>(recipe_.train.seed), purpose,
                        static_cast<uint64_t>(position_.epoch), static_cast<uint64_t>(step)});
  }

  Tensor shuffled_rows() const {
    const std::span<const int64_t> category(examples_.category.data_ptr<int64_t>(),
                                            static_cast<std::size_t>(examples_.rows()));
    return torch::tensor(epoch_order(category, recipe_.train, seed_for(1, 0)), torch::kInt64);
  }

  // As few as batches of `batch` images at most allow.
  int64_t steps_over(int64_t images) const {
    return std::max<int64_t>(1, (images + recipe_.train.batch - 1) / recipe_.train.batch);
  }

  nlohmann::json run_epoch() {
    const double factor = strength_factor(recipe_.parts, position_.epoch, recipe_.train.epochs);
    for (const auto& [name, layer] : network_.interpretable()) layer->set_strength_factor(factor);
    const auto order = shuffled_rows();
    const int64_t images = order.numel();
    const int64_t steps = steps_over(images);
    if (recipe_.train.class_balance == ClassBalance::weights) {
      const auto category = examples_.category.index_select(0, order);
      class_weights_ = models::class_weights(task_, category).to(torch::Device(device_));
    }
    Progress progress(fmt::format("{} epoch {}/{}", word_of(recipe_.train.arm), position_.epoch + 1,
                                  recipe_.train.epochs),
                      images, "images");
    // As even as can be: a last batch of one image would have no variance to normalise by.
    const auto first_row = [&](int64_t step) { return step * images / steps; };
    const auto rows_of = [&](int64_t step) {
      return order.slice(0, first_row(step), first_row(step + 1));
    };
    progress.advance(first_row(position_.step));
    auto next = prepare(rows_of(position_.step), position_.step);
    const double seconds_before = position_.seconds;
    const auto start = Clock::now();
    while (position_.step < steps) {
      if (stop_requested(ranks_)) stop_for_now(steps);
      fade_masks_in(position_.step, steps);
      const auto rows = rows_of(position_.step);
      const auto pixels = next.get();
      const int64_t following = position_.step + 1;
      if (following < steps) next = prepare(rows_of(following), following);
      if (runs_ahead()) {
        run_step_ahead(rows, pixels, position_.step, steps);
        wait_for_numbers(kStepsAhead);
      } else {
        add_up(run_step(rows, pixels, position_.step, steps), rows.numel());
      }
      ++position_.step;
      const bool due = ranks_.leads() && position_.step < steps && checkpoint_is_due();
      if (due || position_.step == steps) wait_for_numbers(0);
      const std::chrono::duration<double> seconds = Clock::now() - start;
      position_.seconds = seconds_before + seconds.count();
      progress.note(fmt::format("loss {:.3f}", last_loss_));
      progress.advance(rows.numel());
      if (due) save();
    }
    return {
        {"epoch", position_.epoch + 1},
        {"loss", position_.loss_sum / static_cast<double>(images)},
        {"train_accuracy", static_cast<double>(position_.correct) / static_cast<double>(images)},
        {"learning_rate", learning_rate(steps - 1, steps)},
        {"seconds", position_.seconds},
        {"layers", take_layer_rows(network_)}};
  }

  void fade_masks_in(int64_t step, int64_t steps) {
    const double share =
        mask_share(recipe_.parts, position_.epoch * steps + step, recipe_.train.epochs * steps);
    for (const auto& [name, layer] : network_.interpretable()) layer->set_mask_share(share);
  }

  double learning_rate(int64_t step, int64_t steps) const {
    return recipe_.train.learning_rate * rate_factor(recipe_.train, position_.epoch, step, steps);
  }

  bool on_cuda() const { return device_.starts_with("cuda"); }

  // Without waiting for the device.
  Tensor to_device(const Tensor& tensor) const {
    return tensor.to(torch::Device(device_), tensor.scalar_type(), /*non_blocking=*/true);
  }

  // This rank's images of a step as the network will see them. A GPU works on the step before while
  // they are made; on the CPU that step has all cores, and they are made when they are asked for.
  std::future<Tensor> prepare(const Tensor& rows, int64_t step) const {
    const auto [begin, end] = ranks_.share(rows.numel());
    const auto own = rows.slice(0, begin, end);
    auto shape = examples_.pixels.sizes().vec();
    shape.front() = own.numel();
    auto pixels = torch::empty(shape, torch::TensorOptions(torch::kUInt8).pinned_memory(on_cuda()));
    const auto when = on_cuda() ? std::launch::async : std::launch::deferred;
    return std::async(when, [this, own, pixels, seed = seed_for(3, step), first = begin] {
      augment(examples_.pixels, own, recipe_.train, seed, first, threads_, pixels);
      return pixels;
    });
  }

  // category: of the whole batch, on all ranks
  Tensor forward(const Tensor& images, const Tensor& category) {
    const tensors::PrecisionScope precision(recipe_.train.precision, device_);
    const auto order = on_cuda() ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    return network_.train(images.contiguous(order), category).logits.to(torch::kFloat32);
  }

  struct StepNumbers {
    double loss = 0.0;
    int64_t right = 0;
  };

  void add_up(const StepNumbers& seen, int64_t images) {
    last_loss_ = seen.loss;
    position_.loss_sum += seen.loss * static_cast<double>(images);
    position_.correct += seen.right;
  }

  void require_finite(
      double loss, double norm, int64_t step, const Tensor& images, const Tensor& category) {
    if (!std::isfinite(loss)) {
      optimizer_.zero_gradients();  // they say nothing about where it began
      stop_for_good(fmt::format("the loss became {}", loss), step, images, category);
    }
    if (!std::isfinite(norm))
      stop_for_good(fmt::format("the gradient's norm became {}", norm), step, images, category);
  }

  // Whether a step may begin before the last one's loss is known.
  bool runs_ahead() const {
    return on_cuda() && ranks_.alone() && optimizer_.can_step_without_waiting();
  }

  // Until so few steps are on their way; those that have come are added up in any case.
  void wait_for_numbers(std::size_t most) {
    while (!coming_.empty() && (coming_.size() > most || coming_.front().numbers.have_come())) {
      const auto first = coming_.front();
      coming_.pop_front();
      const auto seen = first.numbers.read();
      if (!std::isfinite(seen[0]) || !std::isfinite(seen[1])) {
        const auto category = to_device(examples_.category.index_select(0, first.rows));
        require_finite(seen[0], seen[1], first.step, models::normalised(to_device(first.pixels)),
                       category);
      }
      add_up({seen[0], static_cast<int64_t>(seen[2])}, first.rows.numel());
    }
  }

  Resident& resident(int64_t images) {
    auto& own = resident_[images];
    if (own.numbers.defined()) return own;
    const auto here = torch::TensorOptions(torch::Device(device_));
    auto shape = examples_.pixels.sizes().vec();
    shape.front() = images;
    own = {torch::empty(shape, here.dtype(torch::kUInt8)),
           torch::empty({images}, here.dtype(torch::kInt64)),
           torch::empty({3}, here.dtype(torch::kFloat64))};
    return own;
  }

  // All a GPU has to do for one step: nothing here waits for it.
  void ask_for_step(const Resident& own) {
    optimizer_.zero_gradients();
    const bool narrow = recipe_.train.precision == tensors::Precision::bf16;
    const auto logits = forward(models::normalised_on_gpu(own.pixels, narrow), own.category);
    const auto loss = models::task_loss(task_, logits, own.category, class_weights_);
    loss.backward();
    const auto norm =
        optimizer_.step_without_waiting(rate_, loss.detach(), recipe_.train.gradient_limit);
    const auto decided = models::decision_scores(task_, logits.detach()).argmax(1);
    const auto right = decided.eq(models::decision_classes(task_, own.category)).sum();
    own.numbers.copy_(torch::stack(
        {loss.detach().to(torch::kFloat64), norm.to(torch::kFloat64), right.to(torch::kFloat64)}));
  }

  void run_step_ahead(const Tensor& rows, const Tensor& pixels, int64_t step, int64_t steps) {
    tensors::seed_generators(seed_for(2, step));
    auto& own = resident(rows.numel());
    if (!rate_.defined()) rate_ = torch::zeros({}, torch::TensorOptions(torch::Device(device_)));
    auto category =
        torch::empty({rows.numel()}, torch::TensorOptions(torch::kInt64).pinned_memory(true));
    torch::index_select_out(category, examples_.category, 0, rows);
    own.pixels.copy_(tensors::sent(pixels, own.pixels));
    own.category.copy_(tensors::sent(category, own.category));
    rate_.fill_(learning_rate(step, steps));
    bool repeats = true;
    auto key = fmt::format("{} {}", rows.numel(), class_weights_.defined() ? position_.epoch : 0);
    for (const auto& [name, layer] : network_.interpretable()) {
      repeats = repeats && layer->repeats();
      key += fmt::format(" {}", layer->pass_key());
    }
    if (graph_.run(key, repeats, [&] { ask_for_step(own); })) {
      optimizer_.count_again();
      for (const auto& [name, layer] : network_.interpretable()) layer->count_again();
    }
    coming_.push_back({tensors::ComingNumbers(own.numbers), step, rows, pixels});
  }

  StepNumbers run_step(const Tensor& rows, const Tensor& pixels, int64_t step, int64_t steps) {
    tensors::seed_generators(seed_for(2, step));
    const auto [begin, end] = ranks_.share(rows.numel());
    const auto categories = to_device(examples_.category.index_select(0, rows));
    const auto category = categories.slice(0, begin, end);
    optimizer_.zero_gradients();
    const auto images = models::normalised(to_device(pixels));
    const auto logits = forward(images, categories);
    const double share = static_cast<double>(end - begin) / static_cast<double>(rows.numel());
    const auto loss = models::task_loss(task_, logits, category, class_weights_) * share;
    loss.backward();
    gradient_sum_.finish();
    const auto decided = models::decision_scores(task_, logits.detach()).argmax(1);
    const auto right = decided.eq(models::decision_classes(task_, category)).sum();
    const auto seen =
        read_together({ranks_.sum(loss), optimizer_.gradient_norm(), ranks_.sum(right)});
    require_finite(seen[0], seen[1], step, images, category);
    optimizer_.limit_gradients(seen[1], recipe_.train.gradient_limit);
    optimizer_.step(learning_rate(step, steps));
    return {seen[0], static_cast<int64_t>(seen[2])};
  }

  const runs::RunFolder& run_;
  const Recipe& recipe_;
  models::Task task_;
  std::string device_;
  int threads_;
  tensors::Ranks ranks_;
  networks::Network network_;
  models::Examples examples_;
  Optimizer optimizer_;
  tensors::GradientSum gradient_sum_;
  Tensor class_weights_;                  // undefined: all 1
  std::optional<Validation> validation_;  // the leader's
  models::Position position_;
  models::Position saved_;  // the newest checkpoint's
  Clock::time_point saved_at_ = Clock::now();
  std::vector<nlohmann::json> rows_;  // of the log
  double last_loss_ = 0.0;
  // Of a GPU that works ahead.
  tensors::StepGraph graph_;
  std::map<int64_t, Resident> resident_;  // by the number of images
  Tensor rate_;                           // []
  std::deque<ComingStep> coming_;
};

}  // namespace

Run claim_run(const std::filesystem::path& path,
              const Recipe& recipe,
              const nlohmann::json& manifest) {
  const auto effective = [&](const nlohmann::json& options) {
    auto json = to_json(in_force(
        recipe_from_json(parts::completed_record(options), (path / "options.json").string())));
    json.erase("method");  // a name; the options it stands for are there one by one
    return json;
  };
  const auto used = in_force(recipe);
  return {runs::RunFolder::create(path, to_json(used), manifest, effective), used};
}

void require_trainable(const Recipe& recipe, const datasets::PartDataset& dataset) {
  const auto& options = recipe.train;
  const auto task = models::make_task(options.task, options.loss, dataset);
  models::require_classes(dataset, task);
  rate_factors(options, networks::build_architecture(options.net, options.arm, task.outputs(),
                                                     recipe.parts));
  const bool watched = options.validation_images > 0;
  ensure(watched || options.stop_on == StopMetric::none,
         "stop_on = {} needs images to look at; set validation_images too",
         word_of(options.stop_on));
  if (watched) models::require_classes(with_validation(dataset, task, options), task);
}

bool is_trained(const Run& run) {
  const auto& options = run.recipe.train;
  const auto finished = [&](const std::optional<models::Position>& at) {
    if (!at) return false;
    return at->epoch >= options.epochs || judge(rows_until(run.folder, at->epoch), options).stop;
  };
  // Who says so must be sound: nobody may load it before it is needed.
  return finished(models::newest_position(run.folder)) &&
         finished(models::newest_position(run.folder, true));
}

void train(const Run& run,
           const datasets::PartDataset& dataset,
           const models::Resources& resources) {
  const Heeding heeding;
  const auto& [folder, recipe] = run;
  const bool leads = resources.ranks.leads();
  std::optional<runs::RunLock> lock;
  if (leads) {
    lock.emplace(folder.path());
    remove_abandoned_writes(folder.path());
    remove_abandoned_writes(folder.checkpoints());
    models::settle_checkpoints(folder);
  }
  if (resources.ranks.leaders(leads && is_trained(run))) return;
  require_trainable(recipe, dataset);
  const auto design = models::make_design(to_json(recipe), dataset);
  if (leads) models::claim_model(folder, design);
  std::optional<datasets::PartDataset> divided;
  if (recipe.train.validation_images > 0)
    divided = with_validation(dataset, design.task, recipe.train);
  Training(run, design, divided ? *divided : dataset, resources).run_epochs();
}

}  // namespace partwise::training
