#include "partwise/dissection/dissection.h"

#include "partwise/base/random.h"
#include "partwise/dissection/trained_run.h"
#include "partwise/metrics/accuracy.h"
#include "partwise/referee/extra_metrics.h"
#include "partwise/referee/truth.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace partwise::dissection {
namespace {

constexpr int64_t kCardsOfAKind = 4;
constexpr int64_t kExamplesOnACard = 6;
constexpr uint64_t kNoiseStream = 0x6e6f697365;

void keep_rows(training::Examples& examples, Activations& activations, const Tensor& keep) {
  const auto chosen = to_vector(keep.nonzero().flatten());
  const auto index = torch::tensor(chosen, torch::kInt64);
  std::vector<datasets::Sample> samples;
  for (const int64_t row : chosen)
    samples.push_back(examples.samples[static_cast<std::size_t>(row)]);
  examples = {examples.pixels.index_select(0, index), examples.category.index_select(0, index),
              std::move(samples)};
  for (auto& layer : activations.layers) {
    const bool masked = !layer.masked.is_same(layer.maps);
    layer.maps = layer.maps.index_select(0, index);
    layer.masked = masked ? layer.masked.index_select(0, index) : layer.maps;
  }
  activations.logits = activations.logits.index_select(0, index);
}

void add_decisions(const training::Task& task,
                   const metrics::BootstrapOptions& bootstrap,
                   Dissection& result) {
  const auto scores = training::decision_scores(task, result.activations.logits).contiguous();
  const auto labels = to_vector(training::decision_classes(task, result.examples.category));
  const auto classes = scores.size(1);
  const std::span<const float> values(scores.data_ptr<float>(),
                                      static_cast<std::size_t>(scores.numel()));
  const auto size = static_cast<std::size_t>(classes);
  std::vector<std::vector<int64_t>> confusion(size, std::vector<int64_t>(size));
  const auto decided = to_vector(scores.argmax(1));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ++confusion[static_cast<std::size_t>(labels[i])][static_cast<std::size_t>(decided[i])];
  }
  result.decisions["accuracy"] = metrics::accuracy(values, classes, labels, bootstrap);
  result.decisions["balanced_accuracy"] =
      metrics::balanced_accuracy(values, classes, labels, bootstrap);
  for (const auto& [key, finding] : result.decisions) result.findings[key] = to_json(finding);
  result.findings["classes"] = training::class_names(task);
  result.findings["confusion"] = confusion;
}

// How many of the rows show images of the train split.
int64_t training_images(const training::Examples& judged, const training::Examples& train) {
  std::set<int64_t> seen;
  for (const auto& sample : train.samples) seen.insert(sample.image_index);
  return std::count_if(judged.samples.begin(), judged.samples.end(),
                       [&](const auto& sample) { return seen.contains(sample.image_index); });
}

// What the extras need besides the maps of the rows with objects.
struct Surroundings {
  std::vector<metrics::MapSummaries> judged;  // [layer]: all rows
  std::vector<int64_t> judged_category;
  std::vector<metrics::MapSummaries> noisy;  // [layer]: the rows with objects
};

// Summaries of all rows, then only the rows with objects are kept.
Surroundings leave_objects(const networks::Network& network,
                           const referee::LayerOptions& options,
                           const training::Resources& resources,
                           training::Examples& examples,
                           Activations& activations) {
  Surroundings around;
  around.judged_category = to_vector(examples.category);
  for (const auto& layer : activations.layers) {
    if (options.extras.empty()) break;
    around.judged.push_back(metrics::summarise(layer.view_maps(), resources.threads));
  }
  keep_rows(examples, activations, examples.category.ge(0));
  if (referee::wants(options.extras, "part_stability")) {
    const auto seed = derive_seed({static_cast<uint64_t>(options.bootstrap.seed), kNoiseStream});
    around.noisy = collect_summaries(network, examples, resources.device, resources.threads, seed);
  }
  return around;
}

std::vector<referee::LayerFindings> measure_layers(const Activations& activations,
                                                   const metrics::Truth& truth,
                                                   const Surroundings& around,
                                                   const TrainingView& training,
                                                   const referee::LayerOptions& options) {
  std::vector<referee::LayerFindings> found;
  for (std::size_t i = 0; i < activations.layers.size(); ++i) {
    const auto& layer = activations.layers[i];
    referee::Exam exam{truth, training.filter_category[i], {}, {}, {}};
    if (!options.extras.empty()) {
      exam.judged = {around.judged[i], around.judged_category};
      exam.training = {training.summaries[i], training.row_category};
    }
    if (!around.noisy.empty()) exam.noisy = around.noisy[i];
    found.push_back(referee::layer_findings(
        {layer.name, layer.grid, layer.masked_grid, layer.view_maps(), layer.view_masked()}, exam,
        options));
    found.back().facts["role"] = layer.role;
  }
  return found;
}

// The same measures of the net as it was drawn, trained on nothing, as one more control of each.
void add_random_control(const TrainedRun& trained,
                        const datasets::PartDataset& dataset,
                        const MeasureOptions& options,
                        const training::Resources& resources,
                        std::vector<referee::LayerFindings>& layers) {
  auto network = training::make_network(trained.recipe, trained.task);
  network.to_device(resources.device);
  auto examples = training::load_examples(dataset, trained.task, options.split,
                                          trained.input_side(), resources.threads);
  auto quick = options.measures;  // its intervals are not shown
  quick.bootstrap.resamples = 10;
  auto activations = collect_activations(network, examples, resources.device);
  const auto training = view_training(network, trained, resources);
  const auto around = leave_objects(network, quick, resources, examples, activations);
  const auto truth =
      referee::truth_of(dataset, trained.task.category_ids, examples.samples, trained.input_side());
  const auto untrained = measure_layers(activations, truth, around, training, quick);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (auto& [key, finding] : layers[i].findings)
      finding.controls["random_weights"] = untrained[i].findings.at(key).value;
  }
}

std::vector<int64_t> strongest_rows(const Tensor& peak, const Tensor& category, int64_t of) {
  const auto inside = category.eq(of);
  const auto score = torch::where(inside, peak, torch::full_like(peak, -1.0));
  const auto order = to_vector(score.argsort(0, /*descending=*/true));
  const auto count = std::min<int64_t>(kExamplesOnACard, inside.sum().item<int64_t>());
  return {order.begin(), order.begin() + count};
}

// The best, some at random and the worst, so that nobody has to trust a selection.
std::vector<std::pair<int64_t, std::string>> choose_filters(
    const std::vector<metrics::FilterInterpretability>& filters, uint64_t seed) {
  std::vector<int64_t> order(filters.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return filters[static_cast<std::size_t>(a)].interpretability >
           filters[static_cast<std::size_t>(b)].interpretability;
  });
  const auto count = std::min<std::size_t>(kCardsOfAKind, order.size() / 3);
  std::vector<std::pair<int64_t, std::string>> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.emplace_back(order[i], "best");
  std::vector<int64_t> middle(order.begin() + static_cast<std::ptrdiff_t>(count),
                              order.end() - static_cast<std::ptrdiff_t>(count));
  Random random(seed);
  shuffle(middle, random);
  for (std::size_t i = 0; i < count; ++i) chosen.emplace_back(middle[i], "random");
  for (std::size_t i = 0; i < count; ++i) chosen.emplace_back(order[order.size() - 1 - i], "worst");
  return chosen;
}

std::vector<FilterCard> layer_cards(std::size_t index,
                                    const Dissection& dissection,
                                    uint64_t seed) {
  std::vector<FilterCard> cards;
  const auto& measured = dissection.layers[index];
  const auto peaks = dissection.activations.layers[index].maps.flatten(2).amax(2);
  const auto& filters = measured.interpretability.filters;
  for (const auto& [filter, chosen] : choose_filters(filters, derive_seed({seed, index}))) {
    const auto& part = filters[static_cast<std::size_t>(filter)];
    const auto& place = measured.instability.filters[static_cast<std::size_t>(filter)];
    const auto& category = dissection.truth.categories[static_cast<std::size_t>(part.category)];
    const auto peak = peaks.select(1, filter);
    const bool named = part.best_part >= 0 && part.interpretability > 0.0;
    cards.push_back(
        {index,
         filter,
         chosen,
         strongest_rows(peak, dissection.examples.category, part.category),
         {{"filter", filter},
          {"chosen", chosen},
          {"category", category.name},
          {"part", named ? category.parts[static_cast<std::size_t>(part.best_part)] : ""},
          {"part_interpretability", part.interpretability},
          {"instability", place.instability},
          {"ratio", place.ratio},
          {"mean_peak", peak.mean().item<double>()}}});
  }
  return cards;
}

}  // namespace

Dissection dissect(const runs::RunFolder& run,
                   const datasets::PartDataset& dataset,
                   const MeasureOptions& options,
                   const training::Resources& resources) {
  const auto trained = open_trained_run(run, dataset, resources, options.checkpoint);
  const auto& recipe = trained.recipe.train;
  const auto training = view_training(trained.network, trained, resources);

  Dissection result;
  auto& examples = result.examples;
  examples = training::load_examples(dataset, trained.task, options.split, trained.input_side(),
                                     resources.threads);
  result.activations = collect_activations(trained.network, examples, resources.device);
  add_decisions(trained.task, options.measures.bootstrap, result);
  result.findings.update({{"format", 1},
                          {"net", recipe.net},
                          {"arm", recipe.arm},
                          {"task", recipe.task},
                          {"loss", recipe.loss},
                          {"split", options.split},
                          {"checkpoint", options.checkpoint},
                          {"rows", examples.rows()},
                          {"train_rows", trained.train.rows()},
                          {"training_images", training_images(examples, trained.train)},
                          {"categories", trained.task.categories}});
  const auto around =
      leave_objects(trained.network, options.measures, resources, examples, result.activations);
  result.truth =
      referee::truth_of(dataset, trained.task.category_ids, examples.samples, trained.input_side());
  result.layers =
      measure_layers(result.activations, result.truth, around, training, options.measures);
  if (options.random_control)
    add_random_control(trained, dataset, options, resources, result.layers);
  result.findings["layers"] = nlohmann::json::array();
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    result.findings["layers"].push_back(to_json(result.layers[i]));
    for (auto& card : layer_cards(i, result, static_cast<uint64_t>(recipe.seed)))
      result.cards.push_back(std::move(card));
  }
  return result;
}

}  // namespace partwise::dissection
