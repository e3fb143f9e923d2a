#include "partwise/training/trainer.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/networks/feature_scale.h"
#include "partwise/networks/pretrained.h"
#include "partwise/tensors/precision.h"
#include "partwise/tensors/safetensors.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"
#include "partwise/training/examples.h"
#include "partwise/training/optimizer.h"
#include "partwise/training/schedule.h"

#include <chrono>
#include <cmath>
#include <numeric>

namespace partwise::training {

namespace fs = std::filesystem;

namespace {

constexpr auto kLast = "last.safetensors";
constexpr auto kPrevious = "previous.safetensors";
constexpr auto kOptimizer = "optimizer.";
constexpr int64_t kScaleImages = 64;
constexpr double kWorthSaying = 0.9;  // the guard left less than this of the filter loss

// The newest readable checkpoint; a damaged one is named and the one before it used.
std::optional<tensors::TensorFile> newest_checkpoint(const runs::RunFolder& run) {
  for (const char* name : {kLast, kPrevious}) {
    const auto path = run.checkpoints() / name;
    if (!fs::exists(path)) continue;
    try {
      return tensors::load_tensors(path);
    } catch (const Error& error) {
      say(fmt::format("partwise: {}; going on without it", error.what()));
    }
  }
  return std::nullopt;
}

int64_t epoch_of(const tensors::TensorFile& file) {
  return std::stoll(file.metadata.at("epoch"));
}

std::map<std::string, Tensor> load_weights(const TrainOptions& options) {
  const fs::path path = options.init;
  if (!fs::is_directory(path)) {
    return networks::read_pretrained(options.net, path, options.init_input).state;
  }
  const auto file = newest_checkpoint(runs::RunFolder::open(path));
  ensure(file.has_value(), "{}: has no checkpoint to start from", path.string());
  return file->tensors;
}

// One training in progress.
class Training {
 public:
  Training(const runs::RunFolder& run,
           const datasets::PartDataset& dataset,
           const Resources& resources)
      : run_(run),
        recipe_(recipe_from_json(run.options(), run.path() / "options.json")),
        task_(make_task(recipe_.train, dataset)),
        device_(resources.device),
        network_(make_network(recipe_, task_)),
        examples_(load_examples(dataset,
                                task_,
                                "train",
                                network_.architecture().input_side,
                                resources.threads,
                                resources.cache)),
        optimizer_(prepare_optimizer()) {
    ensure(examples_.rows() >= 2, "{}: the train split has {} image(s) for this task; it needs two",
           dataset.root.string(), examples_.rows());
    restore();
  }

  void run_epochs() {
    for (; epoch_ < recipe_.train.epochs; ++epoch_) {
      const auto row = run_epoch();
      save(epoch_ + 1);
      run_.append_log(row);
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
    const auto file = newest_checkpoint(run_);
    if (!file) {
      if (!recipe_.train.init.empty()) start_from(load_weights(recipe_.train));
      return;
    }
    std::map<std::string, Tensor> optimizer;
    for (const auto& [name, tensor] : file->tensors) {
      if (name.starts_with(kOptimizer)) {
        optimizer.emplace(name.substr(std::string_view(kOptimizer).size()), tensor);
      }
    }
    network_.load_state(file->tensors);
    optimizer_.load_state(optimizer);
    epoch_ = epoch_of(*file);
    auto rows = run_.log();  // a row of an epoch whose checkpoint was lost would be repeated
    std::erase_if(rows, [&](const auto& row) { return row.value("epoch", int64_t{0}) > epoch_; });
    run_.rewrite_log(rows);
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

  void save(int64_t epoch) const {
    tensors::TensorFile file{network_.state(), {{"epoch", std::to_string(epoch)}}};
    for (const auto& [name, tensor] : optimizer_.state())
      file.tensors.emplace(kOptimizer + name, tensor);
    make_writable_folder(run_.checkpoints());
    const auto last = run_.checkpoints() / kLast;
    if (fs::exists(last)) fs::rename(last, run_.checkpoints() / kPrevious);
    tensors::save_tensors(last, file);
  }

  uint64_t seed_for(uint64_t purpose, int64_t step) const {
    return derive_seed({static_cast<uint64_t>(recipe_.train.seed), purpose,
                        static_cast<uint64_t>(epoch_), static_cast<uint64_t>(step)});
  }

  std::vector<int64_t> epoch_order() const {
    std::vector<int64_t> order(static_cast<std::size_t>(examples_.rows()));
    std::iota(order.begin(), order.end(), int64_t{0});
    Random random(seed_for(1, 0));
    shuffle(order, random);
    return order;
  }

  nlohmann::json run_epoch() {
    const double factor = strength_factor(recipe_.parts, epoch_, recipe_.train.epochs);
    for (auto& [name, layer] : network_.interpretable()) layer.set_strength_factor(factor);
    const auto start = std::chrono::steady_clock::now();
    const auto order = torch::tensor(epoch_order(), torch::kInt64);
    const int64_t batch = recipe_.train.batch;
    const int64_t steps = std::max<int64_t>(1, examples_.rows() / batch);
    Progress progress(
        fmt::format("{} epoch {}/{}", recipe_.train.arm, epoch_ + 1, recipe_.train.epochs),
        examples_.rows(), "images");
    double loss_sum = 0.0;
    int64_t correct = 0;
    for (int64_t step = 0; step < steps; ++step) {
      if (interrupt_requested()) {
        throw Interrupted(fmt::format(
            "interrupted in epoch {}; run the same command again to go on", epoch_ + 1));
      }
      // As even as can be: a last batch of one image would have no variance to normalise by.
      const auto rows =
          order.slice(0, step * examples_.rows() / steps, (step + 1) * examples_.rows() / steps);
      const auto [loss, right] = run_step(rows, step, steps);
      loss_sum += loss * static_cast<double>(rows.numel());
      correct += right;
      progress.note(fmt::format("loss {:.3f}", loss));
      progress.advance(rows.numel());
    }
    const auto images = static_cast<double>(examples_.rows());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return {{"epoch", epoch_ + 1},
            {"loss", loss_sum / images},
            {"train_accuracy", static_cast<double>(correct) / images},
            {"learning_rate", learning_rate(steps - 1, steps)},
            {"seconds", seconds.count()},
            {"layers", diagnostics()}};
  }

  double learning_rate(int64_t step, int64_t steps) const {
    return recipe_.train.learning_rate *
           warmup_cosine(epoch_ * steps + step, recipe_.train.epochs * steps, recipe_.train.warmup);
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
    const auto logits = forward(normalised(pixels.to(torch::Device(device_))), category);
    const auto loss = task_loss(task_, logits, category);
    const auto value = loss.item<double>();
    ensure(std::isfinite(value),
           "{}: the loss became {} in epoch {}, step {}; lower learning_rate or strength",
           run_.path().string(), value, epoch_ + 1, step + 1);
    loss.backward();
    optimizer_.limit_gradients(recipe_.train.gradient_limit);
    optimizer_.step(learning_rate(step, steps));
    const auto decided = decision_scores(task_, logits.detach()).argmax(1);
    return {value, decided.eq(decision_classes(task_, category)).sum().item<int64_t>()};
  }

  nlohmann::json diagnostics() {
    auto rows = nlohmann::json::array();
    for (auto& [name, layer] : network_.interpretable()) {
      const auto seen = layer.take_diagnostics();
      const auto short_name = name.substr(0, name.find(".mask"));
      if (seen.softening < kWorthSaying) {
        say(
            fmt::format("{}: its activations were falling; the filter loss went on at {:.0f} % of "
                        "its strength ({:.0f} % of the filters are dead)",
                        short_name, 100.0 * seen.softening, 100.0 * seen.dead_share));
      }
      rows.push_back({{"layer", short_name},
                      {"loss", seen.loss},
                      {"prior_entropy", seen.prior_entropy},
                      {"category_entropy", seen.category_entropy},
                      {"spatial_entropy", seen.spatial_entropy},
                      {"gradient_ratio", seen.gradient_ratio},
                      {"effective_samples", seen.effective_samples},
                      {"softening", seen.softening},
                      {"dead_share", seen.dead_share},
                      {"filters_per_category", seen.filters_per_category}});
    }
    return rows;
  }

  const runs::RunFolder& run_;
  Recipe recipe_;
  Task task_;
  std::string device_;
  networks::Network network_;
  Examples examples_;
  Optimizer optimizer_;
  int64_t epoch_ = 0;  // the next one, counted from 0
};

}  // namespace

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
  merge_json(recipe.parts, parts, place);
  return recipe;
}

networks::Network make_network(const Recipe& recipe, const Task& task) {
  const auto arm = networks::arm_from_name(recipe.train.arm);
  auto parts = recipe.parts;
  if (arm != networks::Arm::interpretable) parts.strength = 0.0;
  return {networks::build_architecture(recipe.train.net, arm, task.outputs(), parts,
                                       recipe.train.hidden),
          task.outputs(), parts, static_cast<uint64_t>(recipe.train.seed)};
}

bool is_trained(const runs::RunFolder& run) {
  const auto recipe = recipe_from_json(run.options(), run.path() / "options.json");
  const auto file = newest_checkpoint(run);
  return file && epoch_of(*file) >= recipe.train.epochs;
}

void require_init(const TrainOptions& options) {
  if (options.init.empty()) return;
  if (fs::is_directory(options.init)) {
    load_weights(options);
  } else {
    say(networks::read_pretrained(options.net, options.init, options.init_input).summary);
  }
}

void train(const runs::RunFolder& run,
           const datasets::PartDataset& dataset,
           const Resources& resources) {
  if (is_trained(run)) return;
  Training(run, dataset, resources).run_epochs();
}

networks::Network load_network(const runs::RunFolder& run, const Task& task) {
  const auto recipe = recipe_from_json(run.options(), run.path() / "options.json");
  const auto file = newest_checkpoint(run);
  ensure(file.has_value(), "{}: has no checkpoint; train it first", run.path().string());
  auto network = make_network(recipe, task);
  network.load_state(file->tensors);
  return network;
}

}  // namespace partwise::training
