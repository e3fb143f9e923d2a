#include "partwise/training/validation.h"

#include "partwise/base/error.h"
#include "partwise/base/random.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/purity.h"
#include "partwise/metrics/silent_filters.h"
#include "partwise/models/examples.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

namespace partwise::training {
namespace {

constexpr auto kSplit = "validation";
constexpr uint64_t kImageStream = 0x76616c6964;
constexpr uint64_t kReferenceStream = 0x7265666572;

template <typename T>
std::vector<T> drawn(std::vector<T> from, int64_t count, uint64_t seed) {
  Random random(seed);
  shuffle(from, random);
  from.resize(static_cast<std::size_t>(std::min(count, std::ssize(from))));
  return from;
}

nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

// Its intervals are not shown.
metrics::BootstrapOptions quick_bootstrap(int threads) {
  metrics::BootstrapOptions bootstrap;
  bootstrap.resamples = 10;
  bootstrap.threads = threads;
  return bootstrap;
}

}  // namespace

datasets::PartDataset with_validation(const datasets::PartDataset& dataset,
                                      const models::Task& task,
                                      const TrainOptions& options) {
  const auto* from = dataset.splits.contains(kSplit) ? kSplit : "val";
  const bool own_split = dataset.splits.contains(from);
  if (!own_split) from = "train";
  std::set<int64_t> ids;
  for (const auto& sample : models::task_rows(dataset, task, from).samples)
    ids.insert(dataset.images[static_cast<std::size_t>(sample.image_index)].id);
  const int64_t wanted = options.validation_images;
  ensure(own_split || 2 * wanted <= std::ssize(ids),
         "{}: validation_images = {} is more than half of the {} training images of this task",
         dataset.root.string(), wanted, ids.size());
  const auto chosen = drawn(std::vector<int64_t>(ids.begin(), ids.end()), wanted,
                            derive_seed({static_cast<uint64_t>(options.seed), kImageStream}));
  auto result = dataset;
  if (!own_split) {
    const std::set<int64_t> taken(chosen.begin(), chosen.end());
    std::erase_if(result.splits["train"], [&](int64_t id) { return taken.contains(id); });
  }
  result.splits[kSplit] = chosen;
  return result;
}

Validation::Validation(const datasets::PartDataset& dataset,
                       const models::Task& task,
                       const TrainOptions& options,
                       const models::Resources& resources,
                       int64_t input_side,
                       const models::Examples& train)
    : task_(task),
      resources_(resources),
      images_(models::load_examples(
          dataset, task, kSplit, input_side, resources.threads, resources.cache)) {
  const auto objects = models::to_vector(images_.category.ge(0).nonzero().flatten());
  const auto seen = models::select_rows(images_, objects);
  truth_ = models::truth_of(dataset, task.category_ids, seen.samples, input_side);
  const bool landmarks = std::any_of(truth_.categories.begin(), truth_.categories.end(),
                                     [](const auto& one) { return !one.landmarks.empty(); });
  ensure(landmarks || options.stop_on != StopMetric::instability,
         "{}: stop_on = instability needs landmarks, and this task's categories have none",
         dataset.root.string());
  std::vector<int64_t> rows(static_cast<std::size_t>(train.rows()));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  reference_ = models::select_rows(
      train, drawn(rows, images_.rows(),
                   derive_seed({static_cast<uint64_t>(options.seed), kReferenceStream})));
}

nlohmann::json Validation::measure(const networks::Network& network) const {
  const auto reference = models::view_training(network, reference_, task_.outputs(),
                                               resources_.device, resources_.threads);
  const auto seen =
      models::collect_activations(network, images_, resources_.device, resources_.threads);
  const auto decided = models::decision_scores(task_, seen.logits).argmax(1);
  const auto right =
      decided.eq(models::decision_classes(task_, images_.category)).sum().item<int64_t>();
  auto layers = nlohmann::json::array();
  for (std::size_t t = 0; t < seen.layers.size(); ++t)
    layers.push_back(measure_layer(seen.layers[t], reference.filter_category[t]));
  return {{"images", images_.rows()},
          {"accuracy", static_cast<double>(right) / static_cast<double>(images_.rows())},
          {"loss", number(models::task_loss(task_, seen.logits, images_.category).item<double>())},
          {"layers", layers}};
}

nlohmann::json Validation::measure_layer(const models::LayerActivations& layer,
                                         const std::vector<int64_t>& filter_category) const {
  const auto bootstrap = quick_bootstrap(resources_.threads);
  const auto summaries = metrics::summarise(layer.maps, resources_.threads);
  std::vector<int64_t> filters(static_cast<std::size_t>(task_.outputs()));
  for (const int64_t category : filter_category) ++filters[static_cast<std::size_t>(category)];
  const auto instability =
      metrics::location_instability(summaries, layer.grid, truth_, filter_category, {}, bootstrap);
  const auto silence = metrics::silent_filters(summaries, bootstrap);
  return {{"layer", layer.name},
          {"purity", number(metrics::purity(layer.maps, bootstrap).value)},
          {"instability_ratio", number(instability.ratio.value)},
          {"dead_share", metrics::dead_share(summaries)},
          {"silent_share", number(silence.silent_share.value)},
          {"effective_filters", number(silence.effective_filters.value)},
          {"filters_per_category", filters}};
}

}  // namespace partwise::training
