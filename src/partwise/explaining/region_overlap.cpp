#include "partwise/explaining/region_overlap.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/evidence/peak_gradients.h"
#include "partwise/evidence/receptive_field.h"
#include "partwise/metrics/enlargement.h"
#include "partwise/metrics/statistics.h"
#include "partwise/models/activations.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace partwise::explaining {
namespace {

constexpr uint64_t kOtherImageStream = 0x6f74686572;

// A named filter on one row, and everything its regions are made of.
struct Look {
  int64_t filter = 0;
  int64_t row = 0;
  const metrics::PixelSet* part = nullptr;
  const metrics::PixelSet* other = nullptr;  // the part in another image of the category
  Point centre;
  float peak = 0.0F;
  std::vector<float> map;       // cells
  std::vector<float> evidence;  // [side * side]
  std::optional<Point> centroid;
  std::vector<float> field;  // [side * side]; empty unless asked for
};

int64_t part_of(const FilterName& name, const metrics::Truth& truth) {
  if (name.source != NameSource::regions || name.category < 0) return -1;
  const auto& parts = truth.categories[static_cast<std::size_t>(name.category)].parts;
  const auto found = std::find(parts.begin(), parts.end(), name.name);
  return found == parts.end() ? -1 : found - parts.begin();
}

std::vector<Look> strongest_looks(const LayerParts& layer,
                                  const metrics::MapSummaries& maps,
                                  const metrics::Truth& truth,
                                  const RegionOptions& options) {
  std::vector<Look> looks;
  for (int64_t filter = 0; filter < maps.filters; ++filter) {
    const auto& name = layer.filters[static_cast<std::size_t>(filter)];
    const int64_t part = part_of(name, truth);
    if (part < 0) continue;
    const auto peaks = maps.peaks_of(filter);
    const auto mask = [&](int64_t row) -> const metrics::PixelSet& {
      return truth.rows[static_cast<std::size_t>(row)].parts[static_cast<std::size_t>(part)];
    };
    std::vector<int64_t> shown;
    std::vector<int64_t> fires;
    for (int64_t row = 0; row < maps.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (truth.rows[at].category != name.category || mask(row).empty()) continue;
      shown.push_back(row);
      if (peaks[at] > 0.0F) fires.push_back(row);
    }
    const auto order = metrics::by_strength(peaks, fires);
    for (std::size_t i = 0; i < order.size() && std::cmp_less(i, options.images); ++i) {
      Random random(
          derive_seed({options.seed, kOtherImageStream, static_cast<uint64_t>(filter), i}));
      const auto own = std::find(shown.begin(), shown.end(), order[i]) - shown.begin();
      auto drawn = random.below(std::max<int64_t>(1, std::ssize(shown) - 1));
      if (drawn >= own && std::ssize(shown) > 1) ++drawn;
      Look look;
      look.filter = filter;
      look.row = order[i];
      look.part = &mask(order[i]);
      look.other = &mask(shown[static_cast<std::size_t>(drawn)]);
      looks.push_back(std::move(look));
    }
  }
  return looks;
}

void fill_looks(const networks::Network& network,
                const models::Examples& examples,
                const std::string& device,
                std::vector<Look>& looks) {
  const std::size_t tap = network.architecture().taps.size() - 1;
  const auto grid = models::tapped_layers(network).at(tap).grid;
  std::vector<evidence::FilterOnRow> pairs;
  for (const auto& look : looks) pairs.push_back({look.filter, look.row});
  evidence::for_each_energy(
      network, tap, examples, pairs, device,
      [&](std::size_t i, const Tensor& energy, const Tensor& map) {
        auto& look = looks[i];
        look.map.assign(map.data_ptr<float>(), map.data_ptr<float>() + map.numel());
        const auto peak = metrics::peak(look.map);
        look.peak = peak.value;
        look.centre = grid.centre(peak.cell / map.size(1), peak.cell % map.size(1));
        look.evidence = evidence::evidence_map(energy);
        look.centroid = evidence::centroid(energy);
      });
}

// Makes regions of one network's looks.
class Regions {
 public:
  explicit Regions(const networks::Network& network)
      : side_(network.architecture().input_side),
        reach_(network.geometry()[static_cast<std::size_t>(network.architecture().taps.back().relu)]
                   .receptive_field /
               2.0),
        enlargement_(
            models::tapped_layers(network).back().grid,
            network.geometry()[static_cast<std::size_t>(network.architecture().taps.back().relu)]
                .side,
            1) {}

  [[nodiscard]] metrics::PixelSet region(RegionKind kind, double setting, const Look& look) const {
    metrics::PixelSet set(side_);
    const double radius = setting * static_cast<double>(side_);
    switch (kind) {
      case RegionKind::disc:
        set.insert_disc(look.centre, radius);
        break;
      case RegionKind::enlarged_map:
        enlargement_.paint(look.map, static_cast<float>(setting * look.peak), set);
        break;
      case RegionKind::energy:
        return evidence::strongest_pixels(look.evidence, side_, evidence::kOutlinedShare);
      case RegionKind::energy_disc:
        if (look.centroid) set.insert_disc(*look.centroid, radius);
        break;
      case RegionKind::occlusion_field:
        return evidence::strongest_pixels(look.field, side_, setting);
      case RegionKind::theoretical_field:
        insert_square(look.centre, set);
        break;
    }
    return set;
  }

  // What may be chosen for a kind; a single NaN where nothing may.
  static std::vector<double> settings(RegionKind kind) {
    switch (kind) {
      case RegionKind::disc:
      case RegionKind::energy_disc:
        return {0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.25, 0.3};
      case RegionKind::enlarged_map:
        return {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
      case RegionKind::occlusion_field:
        return {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8};
      case RegionKind::energy:
      case RegionKind::theoretical_field:
        break;
    }
    return {metrics::kNaN};
  }

 private:
  void insert_square(Point centre, metrics::PixelSet& set) const {
    const auto first = [&](double at) {
      return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(at - reach_)), 0, side_ - 1);
    };
    const auto last = [&](double at) {
      return std::clamp<int64_t>(static_cast<int64_t>(std::floor(at + reach_)), 0, side_ - 1);
    };
    for (int64_t y = first(centre.y); y <= last(centre.y); ++y)
      set.insert_span(y, first(centre.x), last(centre.x));
  }

  int64_t side_;
  double reach_;
  metrics::Enlargement enlargement_;
};

double best_setting(const Regions& regions, RegionKind kind, std::span<const Look> looks) {
  double best = -1.0;
  double chosen = metrics::kNaN;
  for (const double setting : Regions::settings(kind)) {
    metrics::ExistingMean mean;
    for (const auto& look : looks)
      mean.add(overlap_of(regions.region(kind, setting, look), *look.part));
    if (mean.value() > best) {
      best = mean.value();
      chosen = setting;
    }
  }
  return chosen;
}

metrics::Finding score_looks(const Regions& regions,
                             RegionKind kind,
                             double setting,
                             std::span<const Look> looks,
                             int64_t rows,
                             int64_t filters,
                             const metrics::BootstrapOptions& bootstrap) {
  std::vector<double> own;
  metrics::ExistingMean control;
  metrics::ExistingMean value;
  for (const auto& look : looks) {
    const auto region = regions.region(kind, setting, look);
    own.push_back(overlap_of(region, *look.part));
    value.add(own.back());
    control.add(overlap_of(region, *look.other));
  }
  auto interval =
      metrics::bootstrap_interval(rows, filters, bootstrap, [&](const metrics::Resample& drawn) {
        metrics::ExistingMean mean;
        for (std::size_t i = 0; i < looks.size(); ++i) {
          mean.add(own[i], static_cast<double>(drawn.rows[static_cast<std::size_t>(looks[i].row)]) *
                               drawn.filters[static_cast<std::size_t>(looks[i].filter)]);
        }
        return mean.value();
      });
  auto finding = metrics::finding_within(value.value(), std::move(interval), 0.0, 1.0);
  finding.controls["other_images"] = control.value();
  finding.facts["n"] = std::ssize(looks);
  return finding;
}

void add_fields(const judging::TrainedRun& trained,
                const models::Resources& resources,
                const RegionOptions& options,
                int64_t filters,
                std::vector<Look>& train,
                std::vector<Look>& held_out) {
  std::vector<std::vector<int64_t>> rows(static_cast<std::size_t>(filters));
  for (const auto& look : train) rows[static_cast<std::size_t>(look.filter)].push_back(look.row);
  evidence::FieldOptions cover;
  cover.step = 1.0 / 14.0;
  cover.images = options.images;
  const auto fields =
      evidence::receptive_fields(trained.network, trained.network.architecture().taps.size() - 1,
                                 trained.train, rows, cover, resources.device);
  for (auto* looks : {&train, &held_out}) {
    for (auto& look : *looks)
      look.field = evidence::field_on_image(fields[static_cast<std::size_t>(look.filter)],
                                            look.centre, trained.input_side());
  }
}

RegionScores score_part(const std::string& part,
                        const Regions& regions,
                        std::span<const RegionScore> chosen,
                        std::span<const Look> looks,
                        int64_t rows,
                        int64_t filters,
                        const metrics::BootstrapOptions& bootstrap) {
  RegionScores scores;
  scores.part = part;
  scores.pairs = std::ssize(looks);
  int64_t last = -1;
  for (const auto& look : looks) {
    if (look.filter != last) ++scores.filters;
    last = look.filter;
  }
  for (const auto& [kind, setting, ignored] : chosen) {
    scores.kinds.push_back(
        {kind, setting, score_looks(regions, kind, setting, looks, rows, filters, bootstrap)});
  }
  return scores;
}

}  // namespace

double overlap_of(const metrics::PixelSet& a, const metrics::PixelSet& b) {
  const auto shared = static_cast<double>(metrics::intersection_area(a, b));
  const auto all = static_cast<double>(a.area() + b.area()) - shared;
  return all > 0.0 ? shared / all : 0.0;
}

std::vector<RegionScores> score_regions(const judging::TrainedRun& trained,
                                        const LayerParts& layer,
                                        const models::Examples& held_out,
                                        const metrics::Truth& train_truth,
                                        const metrics::Truth& held_out_truth,
                                        const models::Resources& resources,
                                        const RegionOptions& options,
                                        const metrics::BootstrapOptions& bootstrap) {
  const auto& network = trained.network;
  const auto summaries = [&](const models::Examples& examples) {
    return models::collect_summaries(network, examples, resources.device, resources.threads).back();
  };
  auto train = strongest_looks(layer, summaries(trained.train), train_truth, options);
  auto judged = strongest_looks(layer, summaries(held_out), held_out_truth, options);
  if (train.empty() || judged.empty()) return {};
  fill_looks(network, trained.train, resources.device, train);
  fill_looks(network, held_out, resources.device, judged);
  const auto filters = std::ssize(layer.filters);
  if (options.fields) add_fields(trained, resources, options, filters, train, judged);
  const Regions regions(network);
  std::vector<RegionScore> chosen;
  for (const auto kind : values_of<RegionKind>()) {
    if (kind != RegionKind::occlusion_field || options.fields)
      chosen.push_back({kind, best_setting(regions, kind, train), {}});
  }
  std::vector<Look> heads;
  for (const auto& look : judged) {
    if (layer.filters[static_cast<std::size_t>(look.filter)].name == "head") heads.push_back(look);
  }
  std::vector<RegionScores> scores{
      score_part("", regions, chosen, judged, held_out.rows(), filters, bootstrap)};
  if (!heads.empty())
    scores.push_back(
        score_part("head", regions, chosen, heads, held_out.rows(), filters, bootstrap));
  return scores;
}

}  // namespace partwise::explaining
