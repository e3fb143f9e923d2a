#include "partwise/atlas/run_atlas.h"

#include "partwise/base/error.h"
#include "partwise/explaining/shapley.h"
#include "partwise/judging/dissection.h"
#include "partwise/metrics/purity.h"
#include "partwise/metrics/silent_filters.h"
#include "partwise/networks/head.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace partwise::atlas {
namespace {

// Values alone are wanted here; a filter's page draws properly (filter_evidence.h).
metrics::BootstrapOptions no_intervals(int threads) {
  return {.resamples = 10, .seed = 1, .threads = threads};
}

std::vector<int64_t> known_categories(const explaining::Explainer& explainer,
                                      std::size_t tap,
                                      int64_t filters) {
  const auto& model = explainer.model();
  const auto& name = model.network.architecture().taps[tap].name;
  for (const auto rule : {models::CategoryRule::training_rows, models::CategoryRule::memory}) {
    for (const auto& one : model.categories) {
      if (one.rule == rule && one.layer == name && std::ssize(one.category) == filters)
        return one.category;
    }
  }
  std::vector<int64_t> category(static_cast<std::size_t>(filters), -1);
  if (!explainer.book()) return category;
  for (std::size_t filter = 0; filter < category.size(); ++filter)
    category[filter] = explainer.book()->layers[tap].filters[filter].category;
  return category;
}

// Each filter on its own, some at a time: a pass over the file per chunk.
std::vector<double> purity_of_filters(const metrics::MapSource& maps, int threads) {
  constexpr int64_t kValuesAtOnce = int64_t{1} << 24U;
  const int64_t cells = maps.side * maps.side;
  const int64_t values_of_filter = std::max<int64_t>(maps.rows * cells, 1);
  const int64_t at_once = std::clamp<int64_t>(kValuesAtOnce / values_of_filter, 1, maps.filters);
  std::vector<double> purity;
  for (int64_t first = 0; first < maps.filters; first += at_once) {
    const int64_t count = std::min(at_once, maps.filters - first);
    std::vector<float> values(static_cast<std::size_t>(count * values_of_filter));
    metrics::for_each_batch(maps, [&](const metrics::Maps& batch, int64_t first_row) {
      for (int64_t row = 0; row < batch.rows; ++row) {
        for (int64_t i = 0; i < count; ++i) {
          const auto map = batch.map(row, first + i);
          std::copy(map.begin(), map.end(),
                    values.begin() + i * values_of_filter + (first_row + row) * cells);
        }
      }
    });
    for (int64_t i = 0; i < count; ++i) {
      const metrics::Maps one{
          std::span(values).subspan(static_cast<std::size_t>(i * values_of_filter),
                                    static_cast<std::size_t>(values_of_filter)),
          maps.rows, 1, maps.side};
      purity.push_back(metrics::purity(metrics::source_of(one), no_intervals(threads)).value);
    }
  }
  return purity;
}

double mean_peak_of(const metrics::MapSummaries& peaks,
                    std::span<const int64_t> row_category,
                    int64_t filter,
                    int64_t category) {
  metrics::ExistingMean mean;
  const auto own = peaks.peaks_of(filter);
  for (std::size_t row = 0; row < own.size(); ++row) {
    if (category < 0 || row_category[row] == category)
      mean.add(std::max(0.0, static_cast<double>(own[row])));
  }
  return mean.value();
}

void measure_filters(const Look& look,
                     std::span<const int64_t> category,
                     const AtlasRequest& request,
                     int threads,
                     LayerLook& layer) {
  const auto filters = static_cast<std::size_t>(layer.peaks.filters);
  layer.numbers.resize(filters);
  const auto bootstrap = no_intervals(threads);
  const auto loudness = metrics::silent_filters(layer.peaks, bootstrap).loudness;
  const double level = metrics::silent_level(loudness);
  for (const double loud : loudness) layer.silent.push_back(!(loud > 0.0) || loud < level);
  for (std::size_t filter = 0; filter < filters; ++filter)
    layer.numbers[filter].peak = mean_peak_of(layer.peaks, look.row_category,
                                              static_cast<int64_t>(filter), category[filter]);
  if (look.objects.empty()) return;
  const auto objects = judging::peaks_of_objects(layer.peaks, look.row_category);
  const auto places = metrics::location_instability(objects, layer.grid, look.truth, category,
                                                    request.instability, bootstrap);
  const auto parts = metrics::part_interpretability(layer.masked, layer.masked_grid, look.truth,
                                                    category, request.interpretability, bootstrap);
  const auto purity = purity_of_filters(layer.maps, threads);
  for (std::size_t filter = 0; filter < filters; ++filter) {
    auto& numbers = layer.numbers[filter];
    numbers.instability_ratio = places.filters[filter].ratio;
    numbers.part_interpretability = parts.filters[filter].interpretability;
    numbers.purity = purity[filter];
  }
}

// The output whose score a decision is about: its own, or, where it is "none of them", the one that
// was denied.
int64_t asked_output(const models::Task& task, const Tensor& logits, int64_t decided) {
  if (!task.may_be_none) return decided;
  return decided > 0 ? decided - 1 : logits.argmax(0).item<int64_t>();
}

// Silences the filters of the top layer one by one, on as many rows as can be afforded.
void silence_filters(const networks::Network& network,
                     const models::Task& task,
                     const models::Examples& judged,
                     const std::string& device,
                     LayerLook& top) {
  constexpr double kMostWork = 2e11;  // multiplications: seconds
  constexpr int64_t kLeastRows = 48;
  const networks::Head head(network);
  const double per_row = static_cast<double>(top.peaks.filters) *
                         static_cast<double>(std::max<int64_t>(head.work(), 1));
  const int64_t most = std::max(kLeastRows, static_cast<int64_t>(kMostWork / per_row));
  const int64_t apart = std::max<int64_t>(1, (judged.rows() + most - 1) / most);
  for (int64_t row = 0; row < judged.rows(); row += apart) top.silenced_rows.push_back(row);
  const auto rows = models::select_rows(judged, top.silenced_rows);
  const auto count = std::ssize(top.silenced_rows);
  top.changes.resize(static_cast<std::size_t>(top.peaks.filters * count));
  models::for_each_output(
      network, rows, device, [&](int64_t first, const networks::Output& output) {
        const auto logits = output.logits.to(torch::kCPU);
        const auto decided = models::to_vector(models::decision_scores(task, logits).argmax(1));
        for (int64_t i = 0; i < output.logits.size(0); ++i) {
          const auto lost = explaining::silenced_alone(
              head, head.by_filter(output.features.slice(0, i, i + 1))[0]);
          const auto asked = asked_output(task, logits[i], decided[static_cast<std::size_t>(i)]);
          const auto of_asked = lost.select(1, asked).to(torch::kFloat32).contiguous();
          const auto* values = of_asked.data_ptr<float>();
          for (int64_t filter = 0; filter < top.peaks.filters; ++filter)
            top.changes[static_cast<std::size_t>(filter * count + first + i)] = values[filter];
        }
      });
  for (int64_t filter = 0; filter < top.peaks.filters; ++filter) {
    metrics::ExistingMean mean;
    for (int64_t i = 0; i < count; ++i)
      mean.add(top.changes[static_cast<std::size_t>(filter * count + i)]);
    top.numbers[static_cast<std::size_t>(filter)].matters = mean.value();
  }
}

std::vector<RowDecision> decisions_of(const models::Task& task,
                                      const Tensor& logits,
                                      const Tensor& category) {
  const auto scores = models::decision_scores(task, logits).to(torch::kCPU, torch::kFloat64);
  const auto decided = models::to_vector(scores.argmax(1));
  const auto truth = models::to_vector(models::decision_classes(task, category));
  std::vector<RowDecision> decisions;
  for (std::size_t row = 0; row < decided.size(); ++row) {
    decisions.push_back(
        {truth[row], decided[row],
         explaining::probability_of(task, scores[static_cast<int64_t>(row)], decided[row])});
  }
  return decisions;
}

Look look_at_data(RunAtlas& atlas,
                  datasets::PartDataset dataset,
                  const AtlasRequest& request,
                  const models::Resources& resources) {
  const auto& network = atlas.network();
  Look look;
  look.dataset = std::move(dataset);
  look.task = models::task_on(look.dataset, atlas.explainer->model().design.task);
  look.judged = models::load_examples(look.dataset, look.task, request.split,
                                      atlas.explainer->model().design.input.side, resources.threads,
                                      resources.cache);
  look.row_category = models::to_vector(look.judged.category);
  for (std::size_t row = 0; row < look.row_category.size(); ++row) {
    if (look.row_category[row] >= 0) look.objects.push_back(static_cast<int64_t>(row));
  }
  const auto objects = judging::rows_with_objects(look.judged);
  look.truth = models::truth_of(look.dataset, look.task.category_ids, objects.samples,
                                atlas.explainer->model().design.input.side);
  auto seen =
      models::collect_activations(network, look.judged, resources.device, resources.threads);
  look.decisions = decisions_of(look.task, seen.logits, look.judged.category);
  for (std::size_t tap = 0; tap < seen.layers.size(); ++tap) {
    auto& from = seen.layers[tap];
    auto& layer = look.layers.emplace_back();
    layer.grid = from.grid;
    layer.masked_grid = from.masked_grid;
    layer.maps = std::move(from.maps);
    layer.masked = std::move(from.masked);
    layer.peaks = std::move(from.judged);
    auto& category = atlas.categories[tap];
    if (std::count(category.begin(), category.end(), -1) > 0)
      category = metrics::strongest_category(layer.peaks, look.row_category, look.task.outputs());
    measure_filters(look, category, request, resources.threads, layer);
  }
  silence_filters(network, look.task, look.judged, resources.device, look.layers.back());
  return look;
}

}  // namespace

const std::string& Look::file_of(int64_t row) const {
  const auto& sample = judged.samples[static_cast<std::size_t>(row)];
  return dataset.images[static_cast<std::size_t>(sample.image_index)].file_name;
}

const explaining::LayerParts* RunAtlas::parts_of(std::size_t tap) const {
  return explainer->book() ? &explainer->book()->layers[tap] : nullptr;
}

RunAtlas open_atlas(const runs::RunFolder& run,
                    std::optional<datasets::PartDataset> dataset,
                    const AtlasRequest& request,
                    const models::Resources& resources) {
  RunAtlas atlas;
  atlas.device = resources.device;
  atlas.explainer =
      std::make_shared<explaining::Explainer>(run, request.checkpoint, resources.device);
  const auto& network = atlas.network();
  for (std::size_t tap = 0; tap < network.architecture().taps.size(); ++tap) {
    const auto& of = network.architecture().taps[tap];
    const auto& geometry = network.geometry()[static_cast<std::size_t>(of.relu)];
    atlas.layers.push_back({of.name, of.role, geometry.channels, geometry.side,
                            network.architecture().input_side, of.interpretable >= 0});
    atlas.categories.push_back(known_categories(*atlas.explainer, tap, geometry.channels));
  }
  if (dataset)
    atlas.look =
        std::make_shared<const Look>(look_at_data(atlas, *std::move(dataset), request, resources));
  return atlas;
}

RunAtlas learn_parts_of(const RunAtlas& atlas,
                        const runs::RunFolder& run,
                        const AtlasRequest& request,
                        const models::Resources& resources) {
  explaining::provide_part_book_from(atlas.look->dataset, run, resources, request.checkpoint);
  auto learnt = atlas;
  learnt.explainer =
      std::make_shared<explaining::Explainer>(run, request.checkpoint, resources.device);
  return learnt;
}

metrics::MapSummaries peaks_of_one(const metrics::MapSummaries& all, int64_t filter) {
  const auto copy = [](const auto& span) { return std::vector(span.begin(), span.end()); };
  return {all.rows,
          1,
          all.side,
          copy(all.cells_of(filter)),
          copy(all.peaks_of(filter)),
          copy(all.masses_of(filter))};
}

OneFilter one_filter(const metrics::MapSource& layer, int64_t filter) {
  OneFilter one;
  one.rows = layer.rows;
  one.side = layer.side;
  const int64_t cells = layer.side * layer.side;
  one.values.resize(static_cast<std::size_t>(layer.rows * cells));
  metrics::for_each_batch(layer, [&](const metrics::Maps& batch, int64_t first_row) {
    for (int64_t row = 0; row < batch.rows; ++row) {
      const auto map = batch.map(row, filter);
      std::copy(map.begin(), map.end(), one.values.begin() + (first_row + row) * cells);
    }
  });
  return one;
}

}  // namespace partwise::atlas
