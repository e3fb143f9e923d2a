#include "partwise/judging/dissection.h"

#include "partwise/base/file_lock.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/random.h"
#include "partwise/evidence/peak_places.h"
#include "partwise/evidence/receptive_field.h"
#include "partwise/findings/findings_file.h"
#include "partwise/images/codec.h"
#include "partwise/judging/layer_findings.h"
#include "partwise/judging/trained_run.h"
#include "partwise/models/activations.h"
#include "partwise/models/examples.h"
#include "partwise/models/run_data.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace partwise::judging {

namespace fs = std::filesystem;
using models::to_vector;

namespace {

constexpr uint64_t kNoiseStream = 0x6e6f697365;

std::span<const float> values_of(const Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// A network over the judged rows: what its layers show of the objects among them.
struct Look {
  const models::Examples& judged;
  const models::Examples& objects;
  models::Activations activations;
  std::vector<metrics::MapSummaries> noisy;  // [layer]: of the objects; where it was asked for
  std::vector<std::vector<metrics::RegionShape>> fields;  // [layer]: likewise
  std::vector<std::vector<Point>> evidence;               // [layer]: likewise
};

Look look_at(const networks::Network& network,
             const models::Examples& judged,
             const models::Examples& objects,
             const metrics::LayerOptions& options,
             const models::Resources& resources) {
  Look look{judged,
            objects,
            models::collect_activations(network, judged, resources.device, resources.threads),
            {},
            {},
            {}};
  if (metrics::wants(options.extras, "part_stability")) {
    const auto seed = derive_seed({static_cast<uint64_t>(options.bootstrap.seed), kNoiseStream});
    look.noisy =
        models::collect_summaries(network, objects, resources.device, resources.threads, seed);
  }
  return look;
}

// The pixels that hold most of a field's strength, around the unit's centre.
metrics::RegionShape shape_of(const evidence::ReceptiveField& field, int64_t side) {
  constexpr double kShare = 0.7;
  metrics::RegionShape shape;
  if (field.images == 0) return shape;
  const int64_t whole = 2 * side + 1;
  const auto middle = static_cast<double>(side);
  const auto pixels = evidence::strongest_pixels(
      evidence::field_on_image(field, {middle, middle}, whole), whole, kShare);
  for (int64_t y = 0; y < whole; ++y) {
    for (int64_t x = 0; x < whole; ++x) {
      if (!pixels.contains(x, y)) continue;
      const int64_t first = x;
      while (x + 1 < whole && pixels.contains(x + 1, y)) ++x;
      shape.spans.push_back({y - side, first - side, x - side});
    }
  }
  return shape;
}

// Each filter's receptive field, from the training rows of its category it fires on most.
std::vector<metrics::RegionShape> fields_of(const TrainedRun& trained,
                                            std::size_t layer,
                                            const models::TrainingView& training,
                                            const std::string& device) {
  const auto& maps = training.summaries[layer];
  std::vector<std::vector<int64_t>> rows_of_filter;
  for (int64_t filter = 0; filter < maps.filters; ++filter) {
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < maps.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      const int64_t category = training.filter_category[layer][static_cast<std::size_t>(filter)];
      if (training.row_category[at] == category && maps.peaks_of(filter)[at] > 0.0F)
        rows.push_back(row);
    }
    const auto order = metrics::by_strength(maps.peaks_of(filter), rows);
    rows_of_filter.emplace_back(order.begin(), order.end());
  }
  evidence::FieldOptions coarse;  // an eighth of the work; it still takes minutes
  coarse.images = 4;
  coarse.step *= 2.0;
  std::vector<metrics::RegionShape> shapes;
  for (const auto& field : evidence::receptive_fields(trained.network, layer, trained.train,
                                                      rows_of_filter, coarse, device))
    shapes.push_back(shape_of(field, trained.input_side()));
  return shapes;
}

metrics::LayerMaps maps_of(const models::LayerActivations& layer) {
  return {layer.name, layer.grid, layer.masked_grid, layer.maps, layer.masked};
}

metrics::Exam exam_of(const Look& look,
                      std::size_t layer,
                      const metrics::Truth& truth,
                      const models::TrainingView& training,
                      const metrics::LayerOptions& options) {
  metrics::Exam exam{truth, training.filter_category[layer], {}, {}, {}, {}, {}};
  if (!options.extras.empty()) {
    exam.judged = {look.activations.layers[layer].judged, to_vector(look.judged.category)};
    exam.training = {training.summaries[layer], training.row_category};
  }
  if (!look.noisy.empty()) exam.noisy = look.noisy[layer];
  if (!look.fields.empty()) exam.fields = look.fields[layer];
  if (!look.evidence.empty()) exam.evidence = look.evidence[layer];
  return exam;
}

std::vector<metrics::LayerMeasures> measure_layers(const Look& look,
                                                   const metrics::Truth& truth,
                                                   const models::TrainingView& training,
                                                   const metrics::LayerOptions& options) {
  std::vector<metrics::LayerMeasures> found;
  for (std::size_t i = 0; i < look.activations.layers.size(); ++i) {
    found.push_back(metrics::measure_layer(maps_of(look.activations.layers[i]),
                                           exam_of(look, i, truth, training, options), options));
  }
  return found;
}

// The same measures of the net as it was drawn, trained on nothing, as one more control of each.
void add_random_control(const TrainedRun& trained,
                        const models::Examples& judged,
                        const models::Examples& objects,
                        const metrics::Truth& truth,
                        metrics::LayerOptions options,
                        const models::Resources& resources,
                        std::vector<metrics::LayerMeasures>& layers) {
  auto network = models::draw_network(trained.design);
  network.to_device(resources.device);
  options.bootstrap.resamples = 10;  // its intervals are not shown
  const auto training = view_training(network, trained, resources);
  const auto look = look_at(network, judged, objects, options, resources);
  const auto untrained = measure_layers(look, truth, training, options);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (auto& [key, finding] : layers[i].findings) {
      const auto found = untrained[i].findings.find(key);  // fields are looked for once
      if (found != untrained[i].findings.end())
        finding.controls["random_weights"] = found->second.value;
    }
  }
}

Attacked attacks_on(const TrainedRun& trained,
                    const models::Examples& judged,
                    const MeasureOptions& options,
                    const models::Resources& resources) {
  if (!metrics::wants(options.measures.extras, kAdversarial)) return {};
  const Scores scores = [&](const Tensor& images) {
    const auto output = trained.network.evaluate(models::standardised(images));
    return models::decision_scores(trained.task, output.logits);
  };
  return attack_images(scores, judged.pixels, options.attack, options.measures.bootstrap.seed,
                       resources.device);
}

// Flat: two runs measured with others cannot be compared.
nlohmann::json all_options(const MeasureOptions& options) {
  auto json = to_json(options.measures.instability);
  json.update(to_json(options.measures.interpretability));
  json.update(to_json(options.measures.patches));
  json.update(to_json(options.measures.consistency));
  json.update(to_json(options.measures.bootstrap));
  if (metrics::wants(options.measures.extras, kAdversarial)) json.update(to_json(options.attack));
  return json;
}

// What no findings of the run show, nor those of fewer epochs that a longer training put aside; one
// that stays harms nobody.
void remove_pictures_of_none(const runs::RunFolder& run, const findings::RunFindings& found) {
  std::set<fs::path> named;
  const auto keep = [&](const findings::RunFindings& those) {
    for (const auto& layer : those.layers) {
      for (const auto& card : layer.cards) named.insert(run.path() / card.picture);
    }
  };
  keep(found);
  for (const auto& earlier : findings::findings_put_aside(run)) keep(earlier);
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(run.pictures())) {
    if (entry.path().extension() == ".png" && !named.contains(entry.path()))
      others.push_back(entry.path());
  }
  std::error_code kept;
  for (const auto& picture : others) fs::remove(picture, kept);
}

}  // namespace

models::Examples rows_with_objects(const models::Examples& examples) {
  return models::select_rows(examples, to_vector(examples.category.ge(0).nonzero().flatten()));
}

metrics::MapSummaries peaks_of_objects(const metrics::MapSummaries& judged,
                                       std::span<const int64_t> category) {
  metrics::MapSummaries objects{0, judged.filters, judged.side, {}, {}, {}};
  for (std::size_t place = 0; place < judged.peaks.size(); ++place) {
    if (category[place % category.size()] < 0) continue;
    objects.cells.push_back(judged.cells[place]);
    objects.peaks.push_back(judged.peaks[place]);
    objects.masses.push_back(judged.masses[place]);
  }
  objects.rows = std::ssize(objects.peaks) / std::max<int64_t>(judged.filters, 1);
  return objects;
}

int64_t training_images(const models::Examples& judged, const models::Examples& train) {
  std::set<int64_t> seen;
  for (const auto& sample : train.samples) seen.insert(sample.image_index);
  return std::count_if(judged.samples.begin(), judged.samples.end(),
                       [&](const auto& sample) { return seen.contains(sample.image_index); });
}

namespace {

// Another dataset's train split says nothing of what the network saw.
std::optional<int64_t> known_training_images(const runs::RunFolder& run,
                                             const datasets::PartDataset& dataset,
                                             const models::Examples& judged,
                                             const models::Examples& train) {
  if (!models::is_as_it_was_trained_on(run, dataset)) return std::nullopt;
  return training_images(judged, train);
}

}  // namespace

Decisions decisions_on(const models::Task& task,
                       const Tensor& logits,
                       const Tensor& category,
                       const Attacked& attacked,
                       const metrics::BootstrapOptions& bootstrap) {
  const auto scores = models::decision_scores(task, logits).contiguous();
  const auto answers = logits.contiguous();
  const auto labels = to_vector(models::decision_classes(task, category));
  const auto shown = to_vector(category);
  metrics::NetworkExam exam{.scores = values_of(scores),
                            .classes = scores.size(1),
                            .labels = labels,
                            .logits = {},
                            .category = shown,
                            .outputs = task.outputs(),
                            .by_lbfgs = attacked.by_lbfgs,
                            .by_carlini_wagner = attacked.by_carlini_wagner};
  if (task.logistic && !task.binary) exam.logits = values_of(answers);
  const auto classes = static_cast<std::size_t>(scores.size(1));
  Decisions found{metrics::measure_network(exam, bootstrap),
                  {classes, std::vector<int64_t>(classes)}};
  const auto decided = to_vector(scores.argmax(1));
  for (std::size_t i = 0; i < labels.size(); ++i)
    ++found.confusion[static_cast<std::size_t>(labels[i])][static_cast<std::size_t>(decided[i])];
  return found;
}

Dissection dissect(const runs::RunFolder& run,
                   const datasets::PartDataset& dataset,
                   const MeasureOptions& options,
                   const models::Resources& resources) {
  const Abandonable abandonable(fmt::format(
      "{}: interrupted while measuring; what was measured before stays", run.path().string()));
  const auto trained = open_trained_run(run, dataset, resources, options.checkpoint);
  const auto& design = trained.design;
  const auto judged =
      models::load_examples(dataset, trained.task, options.split, trained.input_side(),
                            resources.threads, resources.cache);
  Dissection result;
  result.objects = rows_with_objects(judged);
  const auto truth = models::truth_of(dataset, trained.task.category_ids, result.objects.samples,
                                      trained.input_side());
  const auto training = view_training(trained.network, trained, resources);
  const auto attacked = attacks_on(trained, judged, options, resources);
  auto look = look_at(trained.network, judged, result.objects, options.measures, resources);
  if (metrics::wants(options.measures.extras, "receptive_fields")) {
    for (std::size_t layer = 0; layer < training.summaries.size(); ++layer)
      look.fields.push_back(fields_of(trained, layer, training, resources.device));
  }
  if (metrics::wants(options.measures.extras, "evidence")) {
    for (std::size_t layer = 0; layer < training.summaries.size(); ++layer) {
      const auto maps =
          peaks_of_objects(look.activations.layers[layer].judged, to_vector(judged.category));
      look.evidence.push_back(evidence::peak_places(trained.network, layer, result.objects, maps,
                                                    training.filter_category[layer],
                                                    resources.device));
    }
  }
  auto measures = measure_layers(look, truth, training, options.measures);
  if (options.random_control)
    add_random_control(trained, judged, result.objects, truth, options.measures, resources,
                       measures);
  auto decisions = decisions_on(trained.task, look.activations.logits, judged.category, attacked,
                                options.measures.bootstrap);
  const auto data = models::data_record(dataset);
  result.findings = {.net = design.net,
                     .arm = word_of(design.arm),
                     .task = models::task_name(trained.task),
                     .loss = models::loss_name(trained.task),
                     .split = options.split,
                     .checkpoint = options.checkpoint,
                     .moment = {{trained.position.epoch, trained.position.step}},
                     .data_hash = data.at("data_hash"),
                     .images_hash = data.at("images_hash"),
                     .rows = judged.rows(),
                     .train_rows = trained.train.rows(),
                     .training_images = known_training_images(run, dataset, judged, trained.train),
                     .categories = trained.task.categories,
                     .classes = models::class_names(trained.task),
                     .options = all_options(options),
                     .findings = std::move(decisions.findings),
                     .confusion = std::move(decisions.confusion)};
  result.position = trained.position;
  const auto objects = to_vector(result.objects.category);
  for (std::size_t i = 0; i < measures.size(); ++i) {
    const auto& layer = look.activations.layers[i];
    const auto exam = exam_of(look, i, truth, training, {});
    result.findings.layers.push_back(layer_findings(maps_of(layer), exam, measures[i]));
    result.findings.layers.back().role = layer.role;
    result.grids.push_back(layer.grid);
    result.filter_categories.push_back(
        {layer.name, models::CategoryRule::training_rows, training.filter_category[i]});
    result.cards.push_back(layer_cards(
        maps_of(layer), peaks_of_objects(layer.judged, to_vector(judged.category)), objects, truth,
        measures[i], derive_seed({static_cast<uint64_t>(design.seed), i})));
    add_evidence(trained.network, i, result.objects, resources.device, result.cards.back());
  }
  return result;
}

findings::RunFindings measure_run(const runs::RunFolder& run,
                                  const datasets::PartDataset& dataset,
                                  const MeasureOptions& options,
                                  const models::Resources& resources) {
  auto seen = dissect(run, dataset, options, resources);
  make_writable_folder(run.pictures());
  // Of two that measure a run at once, one writes after the other.
  const FileLock alone(run.path() / "measure.lock");
  for (std::size_t i = 0; i < seen.cards.size(); ++i) {
    auto& layer = seen.findings.layers[i];
    for (const auto& chosen : seen.cards[i]) {
      auto& card = layer.cards.emplace_back(chosen.card);
      if (chosen.rows.empty()) continue;
      const auto png = images::encode_png(card_picture(seen.objects, seen.grids[i], chosen));
      const auto name =
          fmt::format("{}-{:03}-{}.png", layer.layer, card.filter, content_hash(png).substr(0, 8));
      write_file_atomically(run.pictures() / name, png);
      card.picture = "pictures/" + name;
      card.picture_alt = fmt::format(
          "The {} crops of {} on which filter {} of {} fires strongest, lit where its evidence "
          "lies, and where it fires",
          chosen.rows.size(), card.category, card.filter, layer.layer);
    }
  }
  // Findings come last: where they are, everything is; until then the older ones have their
  // pictures.
  models::record_categories(run, seen.filter_categories, seen.position);
  findings::write_findings(run, seen.findings);
  remove_pictures_of_none(run, seen.findings);
  return std::move(seen.findings);
}

}  // namespace partwise::judging
