#include "partwise/judging/dissection.h"

#include "partwise/base/random.h"
#include "partwise/judging/attack_findings.h"
#include "partwise/judging/extra_metrics.h"
#include "partwise/judging/trained_run.h"
#include "partwise/metrics/accuracy.h"
#include "partwise/models/truth.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace partwise::judging {
namespace {

constexpr int64_t kCardsOfAKind = 4;
constexpr int64_t kExamplesOnACard = 6;
constexpr uint64_t kNoiseStream = 0x6e6f697365;

models::Examples chosen_rows(const models::Examples& examples, const Tensor& keep) {
  const auto index = keep.nonzero().flatten();
  models::Examples chosen{
      examples.pixels.index_select(0, index), examples.category.index_select(0, index), {}};
  for (const int64_t row : to_vector(index))
    chosen.samples.push_back(examples.samples[static_cast<std::size_t>(row)]);
  return chosen;
}

// A network looked at over all rows; then only the rows that show an object of the task are left.
struct Look {
  models::Activations activations;
  std::vector<int64_t> judged_category;      // [all rows]
  std::vector<metrics::MapSummaries> noisy;  // [layer]: the rows with objects; where it was asked
};

Look look_at(const networks::Network& network,
             const judging::LayerOptions& options,
             const models::Resources& resources,
             models::Examples& examples) {
  Look look;
  look.activations =
      models::collect_activations(network, examples, resources.device, resources.threads);
  look.judged_category = to_vector(examples.category);
  examples = chosen_rows(examples, examples.category.ge(0));
  if (judging::wants(options.extras, "part_stability")) {
    const auto seed = derive_seed({static_cast<uint64_t>(options.bootstrap.seed), kNoiseStream});
    look.noisy =
        models::collect_summaries(network, examples, resources.device, resources.threads, seed);
  }
  return look;
}

void add_decisions(const models::Task& task,
                   const Look& look,
                   const metrics::BootstrapOptions& bootstrap,
                   Dissection& result) {
  const auto scores = models::decision_scores(task, look.activations.logits).contiguous();
  const auto labels =
      to_vector(models::decision_classes(task, torch::tensor(look.judged_category, torch::kInt64)));
  const auto classes = scores.size(1);
  const std::span<const float> values(scores.data_ptr<float>(),
                                      static_cast<std::size_t>(scores.numel()));
  const auto size = static_cast<std::size_t>(classes);
  std::vector<std::vector<int64_t>> confusion(size, std::vector<int64_t>(size));
  const auto decided = to_vector(scores.argmax(1));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ++confusion[static_cast<std::size_t>(labels[i])][static_cast<std::size_t>(decided[i])];
  }
  const auto keep = [&](const char* key, const metrics::Finding& finding) {
    result.decisions[key] = finding;
    result.findings[key] = to_json(finding);
  };
  keep("accuracy", metrics::accuracy(values, classes, labels, bootstrap));
  keep("balanced_accuracy", metrics::balanced_accuracy(values, classes, labels, bootstrap));
  if (task.logistic && !task.binary) {
    const auto logits = look.activations.logits.contiguous();
    const std::span<const float> answers(logits.data_ptr<float>(),
                                         static_cast<std::size_t>(logits.numel()));
    keep("output_accuracy",
         metrics::output_accuracy(answers, task.outputs(), look.judged_category, bootstrap));
  }
  result.findings["classes"] = models::class_names(task);
  result.findings["confusion"] = confusion;
}

void add_attacks(const TrainedRun& trained,
                 const MeasureOptions& options,
                 const models::Resources& resources,
                 Dissection& result) {
  const Scores scores = [&](const Tensor& images) {
    const auto output = trained.network.evaluate(models::standardised(images));
    return models::decision_scores(trained.task, output.logits);
  };
  const auto found = attack_network(scores, result.examples, options.attack,
                                    options.measures.bootstrap, resources.device);
  const auto keep = [&](const std::string& key, const metrics::AdversarialDistortion& attack) {
    result.decisions[key] = attack.finding;
    auto& json = result.findings[key] = to_json(attack.finding);
    json["images"] = found.images;
    json["success_share"] = attack.success_share;
    json["random_flips"] = attack.random_flips;
  };
  keep(kAdversarial, found.lbfgs);
  keep("adversarial_distortion_cw", found.carlini_wagner);
}

// How many of the rows show images of the train split.
int64_t training_images(const models::Examples& judged, const models::Examples& train) {
  std::set<int64_t> seen;
  for (const auto& sample : train.samples) seen.insert(sample.image_index);
  return std::count_if(judged.samples.begin(), judged.samples.end(),
                       [&](const auto& sample) { return seen.contains(sample.image_index); });
}

std::vector<judging::LayerFindings> measure_layers(const Look& look,
                                                   const metrics::Truth& truth,
                                                   const TrainingView& training,
                                                   const judging::LayerOptions& options) {
  std::vector<judging::LayerFindings> found;
  for (std::size_t i = 0; i < look.activations.layers.size(); ++i) {
    const auto& layer = look.activations.layers[i];
    judging::Exam exam{truth, training.filter_category[i], {}, {}, {}};
    if (!options.extras.empty()) {
      exam.judged = {layer.judged, look.judged_category};
      exam.training = {training.summaries[i], training.row_category};
    }
    if (!look.noisy.empty()) exam.noisy = look.noisy[i];
    found.push_back(judging::layer_findings(
        {layer.name, layer.grid, layer.masked_grid, layer.maps, layer.masked}, exam, options));
    found.back().facts["role"] = layer.role;
  }
  return found;
}

// The same measures of the net as it was drawn, trained on nothing, as one more control of each.
void add_random_control(const TrainedRun& trained,
                        const datasets::PartDataset& dataset,
                        const MeasureOptions& options,
                        const models::Resources& resources,
                        std::vector<judging::LayerFindings>& layers) {
  auto network = training::make_network(trained.recipe, trained.task);
  network.to_device(resources.device);
  auto examples = models::load_examples(dataset, trained.task, options.split, trained.input_side(),
                                        resources.threads, resources.cache);
  auto quick = options.measures;  // its intervals are not shown
  quick.bootstrap.resamples = 10;
  const auto training = view_training(network, trained, resources);
  const auto look = look_at(network, quick, resources, examples);
  const auto truth =
      models::truth_of(dataset, trained.task.category_ids, examples.samples, trained.input_side());
  const auto untrained = measure_layers(look, truth, training, quick);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (auto& [key, finding] : layers[i].findings)
      finding.controls["random_weights"] = untrained[i].findings.at(key).value;
  }
}

std::vector<int64_t> strongest_rows(std::span<const float> peaks,
                                    const Tensor& category,
                                    int64_t of) {
  const auto inside = to_vector(category.eq(of).nonzero().flatten());
  const auto order = metrics::by_strength(peaks, inside);
  const auto count = std::min<int64_t>(kExamplesOnACard, std::ssize(order));
  return {order.begin(), order.begin() + count};
}

// The cards' maps, in one pass.
void fetch_maps(const metrics::MapSource& maps, std::vector<FilterCard>& cards) {
  for (auto& card : cards) card.maps.resize(card.rows.size());
  metrics::for_each_batch(maps, [&](const metrics::Maps& batch, int64_t first_row) {
    for (auto& card : cards) {
      for (std::size_t i = 0; i < card.rows.size(); ++i) {
        const int64_t row = card.rows[i] - first_row;
        if (row < 0 || row >= batch.rows) continue;
        const auto map = batch.map(row, card.filter);
        card.maps[i].assign(map.begin(), map.end());
      }
    }
  });
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

// Peaks of a filter on the rows that show an object.
std::vector<float> object_peaks(const Look& look, std::size_t layer, int64_t filter) {
  const auto all = look.activations.layers[layer].judged.peaks_of(filter);
  std::vector<float> peaks;
  for (std::size_t row = 0; row < all.size(); ++row) {
    if (look.judged_category[row] >= 0) peaks.push_back(all[row]);
  }
  return peaks;
}

std::vector<FilterCard> layer_cards(std::size_t index,
                                    const Look& look,
                                    const Dissection& dissection,
                                    uint64_t seed) {
  std::vector<FilterCard> cards;
  const auto& measured = dissection.layers[index];
  const auto& filters = measured.interpretability.filters;
  for (const auto& [filter, chosen] : choose_filters(filters, derive_seed({seed, index}))) {
    const auto& part = filters[static_cast<std::size_t>(filter)];
    const auto& place = measured.instability.filters[static_cast<std::size_t>(filter)];
    const auto& category = dissection.truth.categories[static_cast<std::size_t>(part.category)];
    const auto peaks = object_peaks(look, index, filter);
    const bool named = part.best_part >= 0 && part.interpretability > 0.0;
    cards.push_back(
        {index,
         filter,
         chosen,
         strongest_rows(peaks, dissection.examples.category, part.category),
         {},
         {{"filter", filter},
          {"chosen", chosen},
          {"category", category.name},
          {"part", named ? category.parts[static_cast<std::size_t>(part.best_part)] : ""},
          {"part_interpretability", part.interpretability},
          {"instability", place.instability},
          {"ratio", place.ratio},
          {"mean_peak", std::accumulate(peaks.begin(), peaks.end(), 0.0) /
                            static_cast<double>(std::max<std::size_t>(peaks.size(), 1))}}});
  }
  fetch_maps(look.activations.layers[index].maps, cards);
  return cards;
}

}  // namespace

Dissection dissect(const runs::RunFolder& run,
                   const datasets::PartDataset& dataset,
                   const MeasureOptions& options,
                   const models::Resources& resources) {
  const auto trained = open_trained_run(run, dataset, resources, options.checkpoint);
  const auto& recipe = trained.recipe.train;
  const auto training = view_training(trained.network, trained, resources);

  Dissection result;
  auto& examples = result.examples;
  examples = models::load_examples(dataset, trained.task, options.split, trained.input_side(),
                                   resources.threads, resources.cache);
  if (judging::wants(options.measures.extras, kAdversarial))
    add_attacks(trained, options, resources, result);
  const int64_t rows = examples.rows();
  const int64_t trained_on = training_images(examples, trained.train);
  const auto look = look_at(trained.network, options.measures, resources, examples);
  add_decisions(trained.task, look, options.measures.bootstrap, result);
  result.findings.update({{"format", 1},
                          {"net", recipe.net},
                          {"arm", word_of(recipe.arm)},
                          {"task", recipe.task},
                          {"loss", word_of(recipe.loss)},
                          {"split", options.split},
                          {"checkpoint", options.checkpoint},
                          {"rows", rows},
                          {"train_rows", trained.train.rows()},
                          {"training_images", trained_on},
                          {"categories", trained.task.categories}});
  result.truth =
      models::truth_of(dataset, trained.task.category_ids, examples.samples, trained.input_side());
  result.layers = measure_layers(look, result.truth, training, options.measures);
  if (options.random_control)
    add_random_control(trained, dataset, options, resources, result.layers);
  for (const auto& layer : look.activations.layers) result.grids.push_back(layer.grid);
  result.findings["layers"] = nlohmann::json::array();
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    result.findings["layers"].push_back(to_json(result.layers[i]));
    for (auto& card : layer_cards(i, look, result, static_cast<uint64_t>(recipe.seed)))
      result.cards.push_back(std::move(card));
  }
  return result;
}

}  // namespace partwise::judging
