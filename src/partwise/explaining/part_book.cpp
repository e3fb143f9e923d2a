#include "partwise/explaining/part_book.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/evidence/peak_gradients.h"
#include "partwise/explaining/shapley.h"
#include "partwise/metrics/statistics.h"
#include "partwise/models/run_data.h"
#include "partwise/networks/head.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace partwise::explaining {

namespace fs = std::filesystem;

namespace {

constexpr int kFormat = 1;
constexpr std::size_t kQuantiles = 101;
constexpr uint64_t kSharedRowsStream = 0x7368617265;

// The rows of its category a filter fires on most.
std::vector<evidence::FilterOnRow> strongest_pairs(const metrics::MapSummaries& maps,
                                                   std::span<const int64_t> row_category,
                                                   std::span<const int64_t> filter_category,
                                                   int64_t images) {
  std::vector<evidence::FilterOnRow> pairs;
  for (int64_t filter = 0; filter < maps.filters; ++filter) {
    const auto peaks = maps.peaks_of(filter);
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < maps.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (row_category[at] == filter_category[static_cast<std::size_t>(filter)] && peaks[at] > 0.0F)
        rows.push_back(row);
    }
    const auto order = metrics::by_strength(peaks, rows);
    for (std::size_t i = 0; i < order.size() && std::cmp_less(i, images); ++i)
      pairs.push_back({filter, order[i]});
  }
  return pairs;
}

// The same rows of a category for all its filters, so that their places can be compared.
std::vector<evidence::FilterOnRow> shared_pairs(const metrics::MapSummaries& maps,
                                                std::span<const int64_t> row_category,
                                                std::span<const int64_t> filter_category,
                                                int64_t categories,
                                                int64_t images,
                                                uint64_t seed) {
  std::vector<std::vector<int64_t>> rows(static_cast<std::size_t>(categories));
  for (int64_t row = 0; row < maps.rows; ++row) {
    const int64_t category = row_category[static_cast<std::size_t>(row)];
    if (category >= 0) rows[static_cast<std::size_t>(category)].push_back(row);
  }
  for (std::size_t category = 0; category < rows.size(); ++category) {
    Random random(derive_seed({seed, kSharedRowsStream, category}));
    shuffle(rows[category], random);
    rows[category].resize(
        std::min<std::size_t>(rows[category].size(), static_cast<std::size_t>(images)));
  }
  std::vector<evidence::FilterOnRow> pairs;
  for (int64_t filter = 0; filter < maps.filters; ++filter) {
    for (const int64_t row :
         rows[static_cast<std::size_t>(filter_category[static_cast<std::size_t>(filter)])]) {
      if (maps.peaks_of(filter)[static_cast<std::size_t>(row)] > 0.0F)
        pairs.push_back({filter, row});
    }
  }
  return pairs;
}

// Where the evidence of each pair lies.
std::vector<std::vector<Sighting>> look_for(const networks::Network& network,
                                            std::size_t tap,
                                            const models::Examples& examples,
                                            std::span<const evidence::FilterOnRow> pairs,
                                            int64_t filters,
                                            const std::string& device) {
  std::vector<std::optional<Point>> places(pairs.size());
  evidence::for_each_energy(network, tap, examples, pairs, device,
                            [&](std::size_t i, const Tensor& energy, const Tensor&) {
                              places[i] = evidence::centroid(energy);
                            });
  std::vector<std::vector<Sighting>> sightings(static_cast<std::size_t>(filters));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (places[i])
      sightings[static_cast<std::size_t>(pairs[i].filter)].push_back({pairs[i].row, *places[i]});
  }
  return sightings;
}

bool knows_parts(const datasets::PartDataset& dataset) {
  return std::any_of(
      dataset.annotations.begin(), dataset.annotations.end(),
      [](const auto& object) { return !object.parts.empty() || !object.landmarks.empty(); });
}

// The truth of the rows of sightings, and of some more of each category for the control. The
// sightings speak of its rows then.
metrics::Truth truth_around(const judging::TrainedRun& trained,
                            const datasets::PartDataset& dataset,
                            std::span<const int64_t> row_category,
                            std::vector<std::vector<Sighting>>& sightings) {
  constexpr int64_t kPool = 64;  // per category
  std::map<int64_t, int64_t> place;
  std::vector<datasets::Sample> samples;
  const auto use = [&](int64_t row) {
    const auto [found, fresh] = place.emplace(row, std::ssize(samples));
    if (fresh) samples.push_back(trained.train.samples[static_cast<std::size_t>(row)]);
    return found->second;
  };
  for (auto& of_filter : sightings) {
    for (auto& sighting : of_filter) sighting.row = use(sighting.row);
  }
  std::map<int64_t, int64_t> pooled;
  for (std::size_t row = 0; row < row_category.size(); ++row) {
    if (row_category[row] >= 0 && pooled[row_category[row]]++ < kPool)
      use(static_cast<int64_t>(row));
  }
  return models::truth_of(dataset, trained.task.category_ids, samples, trained.input_side());
}

LayerParts learn_layer(const judging::TrainedRun& trained,
                       const datasets::PartDataset& dataset,
                       std::size_t tap,
                       const models::TrainingView& view,
                       const models::Resources& resources,
                       const LearningOptions& options) {
  const auto& maps = view.summaries[tap];
  const auto& categories = view.filter_category[tap];
  const bool by_truth = !options.by_place && knows_parts(dataset);
  const auto pairs = by_truth
                         ? strongest_pairs(maps, view.row_category, categories, options.images)
                         : shared_pairs(maps, view.row_category, categories, trained.task.outputs(),
                                        options.images, options.naming.seed);
  auto sightings =
      look_for(trained.network, tap, trained.train, pairs, maps.filters, resources.device);
  LayerParts parts;
  parts.layer = trained.network.architecture().taps[tap].name;
  for (int64_t filter = 0; filter < maps.filters; ++filter) {
    double sum = 0.0;
    const auto& own = sightings[static_cast<std::size_t>(filter)];
    for (const auto& sighting : own)
      sum += maps.peaks_of(filter)[static_cast<std::size_t>(sighting.row)];
    parts.strength.push_back(own.empty() ? 0.0 : sum / static_cast<double>(own.size()));
  }
  if (by_truth) {
    const auto truth = truth_around(trained, dataset, view.row_category, sightings);
    parts.filters = name_by_truth(sightings, categories, truth, options.naming);
  } else {
    parts.filters = name_by_place(sightings, categories, trained.input_side(), options.naming);
  }
  return parts;
}

// What the training images say at the layer the decision is made from.
struct TopLayer {
  std::vector<std::vector<double>> evidence;  // [class]: of images decided right
  std::vector<Tensor> activity;               // by batch: [rows, filters]
  std::vector<Tensor> answers;                // [rows, outputs]
  Tensor costs;                               // [filters, outputs]: sum over `counted` rows
  int64_t counted = 0;
};

TopLayer look_at_top(const judging::TrainedRun& trained, const models::Resources& resources) {
  constexpr int64_t kRowsSilenced = 96;  // spread over the rows: one in so many
  TopLayer top;
  top.evidence.resize(models::class_names(trained.task).size());
  constexpr int64_t kRowsSeen = 1536;
  std::vector<int64_t> rows;
  const int64_t apart = (trained.train.rows() + kRowsSeen - 1) / kRowsSeen;
  for (int64_t row = 0; row < trained.train.rows(); row += apart) rows.push_back(row);
  const auto some = models::select_rows(trained.train, rows);
  const auto labels = models::to_vector(models::decision_classes(trained.task, some.category));
  const int64_t every = std::max<int64_t>(1, some.rows() / kRowsSilenced);
  const networks::Head head(trained.network);
  const torch::NoGradGuard no_grad;
  const auto device = torch::TensorOptions(torch::Device(resources.device));
  const auto nothing = head.logits(torch::zeros({1, head.width()}, device));
  const auto baseline = models::decision_scores(trained.task, nothing).to(torch::kCPU)[0];
  const auto look = [&](int64_t first, const networks::Output& output) {
    const auto scores = models::decision_scores(trained.task, output.logits).to(torch::kCPU);
    const auto decided = models::to_vector(scores.argmax(1));
    top.activity.push_back(activity_of(output.features));
    top.answers.push_back(output.logits.to(torch::kCPU, torch::kFloat32));
    for (std::size_t i = 0; i < decided.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if ((first + row) % every == 0) {
        const auto costs =
            silenced_alone(head, head.by_filter(output.features.slice(0, row, row + 1))[0]);
        top.costs = top.counted == 0 ? costs : top.costs + costs;
        ++top.counted;
      }
      if (decided[i] != labels[static_cast<std::size_t>(first) + i]) continue;
      top.evidence[static_cast<std::size_t>(decided[i])].push_back(
          evidence_for(scores[row], baseline, decided[i]));
    }
  };
  models::for_each_output(trained.network, some, resources.device, look);
  return top;
}

std::vector<ClassEvidence> evidence_of_classes(const models::Task& task, TopLayer& top) {
  const auto names = models::class_names(task);
  std::vector<ClassEvidence> evidence;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto& found = top.evidence[i];
    auto& of = evidence.emplace_back(ClassEvidence{names[i], std::ssize(found), {}});
    if (found.empty()) continue;
    std::sort(found.begin(), found.end());
    for (std::size_t q = 0; q < kQuantiles; ++q)
      of.quantiles.push_back(metrics::percentile(found, static_cast<double>(q) / (kQuantiles - 1)));
  }
  return evidence;
}

nlohmann::json to_json(const FilterName& name) {
  return {{"category", name.category}, {"name", name.name},       {"from", word_of(name.source)},
          {"rate", name.rate},         {"control", name.control}, {"images", name.sightings}};
}

FilterName filter_from_json(const nlohmann::json& json) {
  return {json.at("category"),
          json.at("name"),
          from_word<NameSource>("from", json.at("from").get<std::string>()),
          json.at("rate"),
          json.at("control"),
          json.at("images")};
}

}  // namespace

fs::path part_book_file(const runs::RunFolder& run) {
  return run.path() / "parts.json";
}

double evidence_for(const Tensor& scores, const Tensor& baseline, int64_t which) {
  return (scores[which] - baseline[which]).item<double>();
}

std::optional<double> PartBook::standing(std::size_t which, double value) const {
  const auto& quantiles = evidence.at(which).quantiles;
  if (quantiles.empty()) return std::nullopt;
  const auto above = std::upper_bound(quantiles.begin(), quantiles.end(), value);
  if (above == quantiles.begin()) return 0.0;
  if (above == quantiles.end()) return 1.0;
  const double low = *(above - 1);
  const double share = *above > low ? (value - low) / (*above - low) : 0.0;
  return (static_cast<double>(above - quantiles.begin()) - 1.0 + share) / (kQuantiles - 1);
}

PartBook learn_parts(const judging::TrainedRun& trained,
                     const datasets::PartDataset& dataset,
                     const models::Resources& resources,
                     const LearningOptions& options) {
  const auto view = judging::view_training(trained.network, trained, resources);
  PartBook book;
  book.position = trained.position;
  book.data_hash = content_hash(read_file(dataset.root / "dataset.json"));
  for (std::size_t tap = 0; tap < view.summaries.size(); ++tap)
    book.layers.push_back(learn_layer(trained, dataset, tap, view, resources, options));
  auto top = look_at_top(trained, resources);
  book.evidence = evidence_of_classes(trained.task, top);
  book.additive = AdditiveExplainer::distil(torch::cat(top.activity), torch::cat(top.answers),
                                            top.costs / static_cast<double>(top.counted));
  return book;
}

void write_part_book(const runs::RunFolder& run, const PartBook& book) {
  const Unbroken both_files;
  remove_abandoned_writes(run.path());
  if (book.additive) book.additive->save(run);  // parts.json comes last: it says that all is there
  nlohmann::json layers = nlohmann::json::array();
  for (const auto& layer : book.layers) {
    auto filters = nlohmann::json::array();
    for (std::size_t i = 0; i < layer.filters.size(); ++i) {
      auto filter = to_json(layer.filters[i]);
      filter["strength"] = layer.strength[i];
      filters.push_back(std::move(filter));
    }
    layers.push_back({{"layer", layer.layer}, {"filters", std::move(filters)}});
  }
  nlohmann::json classes = nlohmann::json::array();
  for (const auto& one : book.evidence)
    classes.push_back({{"name", one.name}, {"images", one.images}, {"quantiles", one.quantiles}});
  write_sealed_json(part_book_file(run), {{"format", kFormat},
                                          {"epoch", book.position.epoch},
                                          {"step", book.position.step},
                                          {"data_hash", book.data_hash},
                                          {"additive", book.additive ? book.additive->hash() : ""},
                                          {"layers", std::move(layers)},
                                          {"evidence", std::move(classes)}});
}

std::optional<PartBook> read_part_book(const runs::RunFolder& run, const models::Model& model) {
  const auto path = part_book_file(run);
  if (!fs::exists(path)) return std::nullopt;
  const auto json = read_json(path);
  PartBook book;
  std::string additive;  // an older program's does not name it
  try {
    ensure(json.at("format") == kFormat, "{}: format {}, of a newer program; update this one",
           path.string(), json.at("format").dump());
    book.position.epoch = json.at("epoch");
    book.position.step = json.at("step");
    book.data_hash = json.at("data_hash");
    additive = json.value("additive", "");
    for (const auto& layer : json.at("layers")) {
      auto& parts = book.layers.emplace_back();
      parts.layer = layer.at("layer");
      for (const auto& filter : layer.at("filters")) {
        parts.filters.push_back(filter_from_json(filter));
        parts.strength.push_back(filter.at("strength"));
      }
    }
    for (const auto& one : json.at("evidence"))
      book.evidence.push_back({one.at("name"), one.at("images"), one.at("quantiles")});
  } catch (const nlohmann::json::exception& problem) {
    throw Error(fmt::format("{}: damaged ({}); delete it and run `partwise names {} --learn`",
                            path.string(), reason_in(problem), run.path().string()));
  }
  if (book.position.epoch != model.position.epoch || book.position.step != model.position.step)
    return std::nullopt;
  const auto& taps = model.network.architecture().taps;
  bool fits = book.layers.size() == taps.size() &&
              book.evidence.size() == models::class_names(model.design.task).size();
  for (std::size_t t = 0; fits && t < taps.size(); ++t) {
    const auto& geometry = model.network.geometry()[static_cast<std::size_t>(taps[t].relu)];
    fits = book.layers[t].layer == taps[t].name &&
           std::ssize(book.layers[t].filters) == geometry.channels;
    for (const auto& filter : book.layers[t].filters) {
      fits = fits && filter.category >= -1 && filter.category < model.design.task.outputs();
    }
  }
  ensure(fits, "{}: tells of another network; delete it and run `partwise names {} --learn`",
         path.string(), run.path().string());
  const auto& top = model.network.geometry()[static_cast<std::size_t>(taps.back().relu)];
  book.additive = AdditiveExplainer::load(run, top.channels, model.design.task.outputs());
  if (!book.additive || (!additive.empty() && additive != book.additive->hash()))
    return std::nullopt;
  return book;
}

void provide_part_book_from(const datasets::PartDataset& dataset,
                            const runs::RunFolder& run,
                            const models::Resources& resources,
                            const std::string& checkpoint,
                            const LearningOptions& options) {
  if (read_part_book(run, models::open_model(run, checkpoint, dataset.root))) return;
  if (models::is_as_it_was_trained_on(run, dataset))
    learn_part_book(dataset, run, resources, checkpoint, options);
  else
    provide_part_book(run, {}, resources, checkpoint, options);
}

void learn_part_book(const datasets::PartDataset& dataset,
                     const runs::RunFolder& run,
                     const models::Resources& resources,
                     const std::string& checkpoint,
                     const LearningOptions& options) {
  say("learning which parts the filters stand for, from the training images ...");
  const auto trained = judging::open_trained_run(run, dataset, resources, checkpoint);
  write_part_book(run, learn_parts(trained, dataset, resources, options));
}

bool provide_part_book(const runs::RunFolder& run,
                       const fs::path& data,
                       const models::Resources& resources,
                       const std::string& checkpoint,
                       const LearningOptions& options) {
  if (read_part_book(run, models::open_model(run, checkpoint, data))) return true;
  std::optional<datasets::PartDataset> dataset;
  try {
    dataset = models::data_of(run, data);
  } catch (const Error& problem) {
    if (!data.empty()) throw;
    say(
        fmt::format("{}; filters go by the category they stand for, not by parts (`partwise names "
                    "{} --learn --data DATA` learns parts from other images)",
                    problem.what(), run.path().string()));
    return false;
  }
  learn_part_book(*dataset, run, resources, checkpoint, options);
  return true;
}

}  // namespace partwise::explaining
