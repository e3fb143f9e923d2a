#include "partwise/dissection/dissection.h"

#include "partwise/base/error.h"
#include "partwise/base/random.h"
#include "partwise/dissection/truth.h"
#include "partwise/metrics/accuracy.h"
#include "partwise/metrics/filter_category.h"
#include "partwise/metrics/purity.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <numeric>

namespace partwise::dissection {
namespace {

constexpr int64_t kCardsOfAKind = 4;
constexpr int64_t kExamplesOnACard = 6;

std::vector<int64_t> to_vector(const Tensor& tensor) {
  const auto plain = tensor.to(torch::kInt64).contiguous();
  return {plain.data_ptr<int64_t>(), plain.data_ptr<int64_t>() + plain.numel()};
}

// argmax_c E sum x over the training rows, per tapped layer.
std::vector<std::vector<int64_t>> categories_from_training(const networks::Network& network,
                                                           const training::Examples& train,
                                                           const training::Task& task,
                                                           const std::string& device) {
  std::vector<std::vector<int64_t>> result;
  for (const auto& sums : collect_map_sums(network, train, device)) {
    const metrics::Maps maps{{sums.data_ptr<float>(), static_cast<std::size_t>(sums.numel())},
                             sums.size(0),
                             sums.size(1),
                             1};
    result.push_back(metrics::strongest_category(maps, to_vector(train.category), task.outputs()));
  }
  return result;
}

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

nlohmann::json decisions(const training::Task& task,
                         const Tensor& logits,
                         const Tensor& category,
                         const metrics::BootstrapOptions& bootstrap) {
  const auto scores = training::decision_scores(task, logits).contiguous();
  const auto labels = to_vector(training::decision_classes(task, category));
  const auto classes = scores.size(1);
  const std::span<const float> values(scores.data_ptr<float>(),
                                      static_cast<std::size_t>(scores.numel()));
  const auto size = static_cast<std::size_t>(classes);
  std::vector<std::vector<int64_t>> confusion(size, std::vector<int64_t>(size));
  const auto decided = to_vector(scores.argmax(1));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ++confusion[static_cast<std::size_t>(labels[i])][static_cast<std::size_t>(decided[i])];
  }
  return {{"accuracy", to_json(metrics::accuracy(values, classes, labels, bootstrap))},
          {"balanced_accuracy",
           to_json(metrics::balanced_accuracy(values, classes, labels, bootstrap))},
          {"classes", training::class_names(task)},
          {"confusion", confusion}};
}

// What was measured of one layer.
struct LayerMeasures {
  metrics::LocationInstability instability;
  metrics::PartInterpretability interpretability;
  Tensor peak;  // [rows, filters]: strongest activation
};

nlohmann::json layer_findings(const LayerActivations& layer,
                              const LayerMeasures& measured,
                              const metrics::Truth& truth,
                              const metrics::BootstrapOptions& bootstrap) {
  const auto finding = [&](const metrics::Finding& value) {
    auto json = to_json(value);
    json["layer"] = layer.name;
    return json;
  };
  nlohmann::json per_category = nlohmann::json::object();
  for (const auto& category : truth.categories) per_category[category.name] = 0;
  for (const auto& filter : measured.interpretability.filters) {
    auto& count = per_category[truth.categories[static_cast<std::size_t>(filter.category)].name];
    count = count.get<int64_t>() + 1;
  }
  const auto silent = measured.peak.amax(0).le(0).to(torch::kFloat64).mean().item<double>();
  return {{"layer", layer.name},
          {"role", layer.role},
          {"side", layer.maps.size(2)},
          {"filters", layer.maps.size(1)},
          {"input_side", layer.grid.input_side},
          {"unit_stride", layer.grid.stride},
          {"unit_offset", layer.grid.offset},
          {"dead_share", silent},
          {"purity", finding(metrics::purity(layer.view_maps(), bootstrap))},
          {"location_instability", finding(measured.instability.instability)},
          {"instability_ratio", finding(measured.instability.ratio)},
          {"part_interpretability", finding(measured.interpretability.finding)},
          {"silent_share", measured.interpretability.silent_share},
          {"filters_per_category", per_category}};
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
                                    const LayerMeasures& measured,
                                    const Dissection& dissection,
                                    uint64_t seed) {
  std::vector<FilterCard> cards;
  const auto& filters = measured.interpretability.filters;
  for (const auto& [filter, chosen] : choose_filters(filters, derive_seed({seed, index}))) {
    const auto& part = filters[static_cast<std::size_t>(filter)];
    const auto& place = measured.instability.filters[static_cast<std::size_t>(filter)];
    const auto& category = dissection.truth.categories[static_cast<std::size_t>(part.category)];
    const auto peak = measured.peak.select(1, filter);
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
  const auto recipe = training::recipe_from_json(run.options(), run.path() / "options.json");
  const auto task = training::make_task(recipe.train, dataset);
  auto network = training::load_network(run, task);
  network.to_device(resources.device);
  const auto side = network.architecture().input_side;
  const auto train = training::load_examples(dataset, task, "train", side, resources.threads);
  const auto categories = categories_from_training(network, train, task, resources.device);

  Dissection result;
  auto& examples = result.examples;
  examples = training::load_examples(dataset, task, options.split, side, resources.threads);
  result.activations = collect_activations(network, examples, resources.device);
  result.findings =
      decisions(task, result.activations.logits, examples.category, options.bootstrap);
  result.findings.update({{"format", 1},
                          {"net", recipe.train.net},
                          {"arm", recipe.train.arm},
                          {"task", recipe.train.task},
                          {"loss", recipe.train.loss},
                          {"split", options.split},
                          {"rows", examples.rows()},
                          {"train_rows", train.rows()},
                          {"categories", task.categories}});
  keep_rows(examples, result.activations, examples.category.ge(0));
  result.truth = truth_of(dataset, task, examples.samples, side);

  result.findings["layers"] = nlohmann::json::array();
  for (std::size_t i = 0; i < result.activations.layers.size(); ++i) {
    const auto& layer = result.activations.layers[i];
    const auto& assigned = categories[i];
    const LayerMeasures measured{
        metrics::location_instability(layer.view_maps(), layer.grid, result.truth, assigned,
                                      options.instability, options.bootstrap),
        metrics::part_interpretability(layer.view_masked(), layer.masked_grid, result.truth,
                                       assigned, options.interpretability, options.bootstrap),
        layer.maps.flatten(2).amax(2)};
    result.findings["layers"].push_back(
        layer_findings(layer, measured, result.truth, options.bootstrap));
    for (auto& card : layer_cards(i, measured, result, static_cast<uint64_t>(recipe.train.seed))) {
      result.cards.push_back(std::move(card));
    }
  }
  return result;
}

}  // namespace partwise::dissection
