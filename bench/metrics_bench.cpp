// Every metric on one layer of VGG-16's size: 512 filters, 1000 rows, 14 x 14 cells, 5 part masks
// of 224 x 224 pixels, 8 landmarks, 1000 bootstrap resamples, all cores. Then how that grows, and
// two of them beside the plain way of computing the same numbers.
//   metrics_bench [REPEATS]
#include "partwise/base/random.h"
#include "partwise/metrics/activation_magnitude.h"
#include "partwise/metrics/class_selectivity.h"
#include "partwise/metrics/enlargement.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/network_dissection.h"
#include "partwise/metrics/part_consistency.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/part_labels.h"
#include "partwise/metrics/patch_purity.h"
#include "partwise/metrics/purity.h"
#include "partwise/metrics/single_filter_accuracy.h"
#include "partwise/metrics/upper_quantile.h"

#include "side_by_side.h"
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

namespace partwise::metrics {
namespace {

constexpr int64_t kSide = 14;
constexpr int64_t kCells = kSide * kSide;
constexpr UnitGrid kGrid{.offset = 7.5, .stride = 16.0, .input_side = 224};
constexpr int64_t kParts = 5;

struct Layer {
  int64_t filters = 0;
  int64_t rows = 0;
  std::vector<float> values;
  Truth truth;
  std::vector<int64_t> row_category;
  std::vector<int64_t> filter_category;
  MapSummaries summaries;

  [[nodiscard]] Maps maps() const { return {values, rows, filters, kSide}; }
};

// ReLU-like noise, a third of the cells active.
Layer make_layer(int64_t filters, int64_t rows) {
  Layer layer;
  layer.filters = filters;
  layer.rows = rows;
  Random random(1);
  layer.values.resize(static_cast<std::size_t>(rows * filters * kCells));
  for (auto& value : layer.values)
    value = static_cast<float>(std::max(0.0, random.uniform() * 3.0 - 2.0));
  layer.truth.input_side = 224;
  layer.truth.categories.resize(2);
  for (auto& category : layer.truth.categories) {
    for (int k = 0; k < 8; ++k) category.landmarks.push_back(std::to_string(k));
    for (int k = 0; k < kParts; ++k) category.parts.push_back(std::to_string(k));
  }
  for (int64_t row = 0; row < rows; ++row) {
    auto& truth = layer.truth.rows.emplace_back();
    truth.category = row % 2;
    for (int k = 0; k < 8; ++k)
      truth.landmarks.push_back({{random.uniform(0, 224), random.uniform(0, 224)}});
    for (int k = 0; k < kParts; ++k) {
      truth.parts.emplace_back(224).insert_disc({random.uniform(0, 224), random.uniform(0, 224)},
                                                random.uniform(10, 50));
    }
    layer.row_category.push_back(truth.category);
  }
  for (int64_t f = 0; f < filters; ++f) layer.filter_category.push_back(f % 2);
  layer.summaries = summarise(layer.maps(), 0);
  return layer;
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Metric {
  const char* name;
  std::function<void(const Layer&, const BootstrapOptions&)> measure;
};

std::vector<Metric> all_metrics() {
  const auto dissection = [](const DissectionOptions& options) {
    return [&options](const Layer& layer, const BootstrapOptions& bootstrap) {
      network_dissection(source_of(layer.maps()), kGrid, layer.truth, options, bootstrap);
    };
  };
  using L = const Layer&;
  using B = const BootstrapOptions&;
  return {
      {"peaks and masses", [](L l, B) { summarise(l.maps(), 0); }},
      {"purity", [](L l, B b) { purity(source_of(l.maps()), b); }},
      {"location instability and ratio",
       [](L l, B b) {
         location_instability(l.summaries, kGrid, l.truth, l.filter_category, {}, b);
       }},
      {"part interpretability",
       [](L l, B b) {
         part_interpretability(source_of(l.maps()), kGrid, l.truth, l.filter_category, {}, b);
       }},
      {"part labels",
       [](L l, B b) {
         part_labels(source_of(l.maps()), kGrid, l.truth, l.filter_category, {}, b);
       }},
      {"single-filter accuracy",
       [](L l, B b) {
         const LabelledRows labelled{l.summaries, l.row_category};
         single_filter_accuracy(labelled, labelled, l.filter_category, b);
       }},
      {"activation magnitudes",
       [](L l, B b) { activation_magnitude(l.summaries, l.row_category, l.filter_category, b); }},
      {"class selectivity", [](L l, B b) { class_selectivity(l.summaries, l.row_category, 2, b); }},
      {"patch purity", [](L l, B b) { patch_purity(l.summaries, kGrid, l.truth, {}, b); }},
      {"consistency",
       [](L l, B b) { part_consistency(l.summaries, kGrid, l.truth, l.filter_category, {}, b); }},
      {"stability",
       [](L l, B b) {
         part_stability(l.summaries, l.summaries, kGrid, l.truth, l.filter_category, {}, b);
       }},
      {"Network Dissection 2017", dissection(kDissection2017)},
      {"Network Dissection 2020", dissection(kDissection2020)},
  };
}

// CPU seconds of all threads together, and seconds by the clock.
struct Cost {
  double cpu = 0.0;
  double clock = 0.0;
};

Cost cost_of(const Metric& metric, const Layer& layer) {
  const double before = cpu_seconds();
  const double clock = bench::seconds_of([&] { metric.measure(layer, {}); });
  return {cpu_seconds() - before, clock};
}

void print_all(const Layer& layer, int repeats) {
  std::printf(
      "%ld filters, %ld rows, CPU seconds of all threads, then by the clock: medians of %d\n",
      static_cast<long>(layer.filters), static_cast<long>(layer.rows), repeats);
  Cost sum;
  for (const auto& metric : all_metrics()) {
    std::vector<double> cpu;
    std::vector<double> clock;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const auto cost = cost_of(metric, layer);
      cpu.push_back(cost.cpu);
      clock.push_back(cost.clock);
    }
    const Cost median{bench::quartiles(cpu).median, bench::quartiles(clock).median};
    sum = {sum.cpu + median.cpu, sum.clock + median.clock};
    std::printf("  %-34s %7.2f %7.2f\n", metric.name, median.cpu, median.clock);
    std::fflush(stdout);
  }
  std::printf("  %-34s %7.2f %7.2f\n", "all", sum.cpu, sum.clock);
}

void print_growth() {
  std::printf("growth: CPU seconds of all metrics together, once\n");
  for (const auto& [filters, rows] : {std::pair{128, 1000}, {256, 1000}, {512, 250}, {512, 500}}) {
    const auto layer = make_layer(filters, rows);
    double sum = 0.0;
    for (const auto& metric : all_metrics()) sum += cost_of(metric, layer).cpu;
    std::printf("  %4d filters, %4d rows %31.2f\n", filters, rows, sum);
    std::fflush(stdout);
  }
}

// IoU of every unit with its best part, from maps that are made as large as the 2020 rule wants.
std::vector<double> plain_ious(const Layer& layer) {
  const Enlargement enlargement(kGrid, kSide, kDissection2020.step);
  const auto pixels = static_cast<std::size_t>(enlargement.side() * enlargement.side());
  std::vector<std::vector<PixelSet>> masks;
  for (const auto& row : layer.truth.rows) {
    auto& of_row = masks.emplace_back();
    for (const auto& part : row.parts) of_row.push_back(enlargement.sampled(part));
  }
  std::vector<double> best;
  for (int64_t unit = 0; unit < layer.filters; ++unit) {
    std::vector<float> enlarged(pixels * static_cast<std::size_t>(layer.rows));
    for (int64_t row = 0; row < layer.rows; ++row) {
      enlargement.enlarge(
          layer.maps().map(row, unit),
          std::span(enlarged).subspan(static_cast<std::size_t>(row) * pixels, pixels));
    }
    auto sorted = enlarged;
    const auto place = sorted.begin() + values_above(kDissection2020.quantile, std::ssize(sorted));
    std::nth_element(sorted.begin(), place, sorted.end(), std::greater<>());
    std::vector<double> ious;
    for (std::size_t k = 0; k < kParts; ++k) {
      double both = 0.0;
      double either = 0.0;
      for (std::size_t row = 0; row < masks.size(); ++row) {
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
          const bool fires = enlarged[row * pixels + pixel] > *place;
          const auto at = static_cast<int64_t>(pixel);
          const bool shown =
              masks[row][k].contains(at % enlargement.side(), at / enlargement.side());
          both += fires && shown ? 1.0 : 0.0;
          either += fires || shown ? 1.0 : 0.0;
        }
      }
      ious.push_back(both / either);
    }
    best.push_back(*std::max_element(ious.begin(), ious.end()));
  }
  return best;
}

void compare_dissection() {
  const auto layer = make_layer(16, 250);
  const BootstrapOptions once{.resamples = 10, .threads = 1};
  const auto ours = [&] {
    return network_dissection(source_of(layer.maps()), kGrid, layer.truth, kDissection2020, once);
  };
  bool same = true;
  const auto plain = plain_ious(layer);
  const auto found = ours();
  for (std::size_t unit = 0; unit < plain.size(); ++unit)
    same = same && plain[unit] == found.units[unit].iou;
  bench::compare(std::string("Network Dissection 2020, 16 filters, 250 rows, one thread, ") +
                     (same ? "the same IoUs" : "OTHER IoUs"),
                 {{"ours, with control and 10 resamples", [&] { ours(); }},
                  {"enlarge, select, count", [&] { plain_ious(layer); }}},
                 3);
}

// Accuracy at the best threshold, mean over filters, every resample sorted anew.
std::vector<double> plain_fitted(const Layer& layer, const BootstrapOptions& bootstrap) {
  const auto statistic = [&](const Resample& draw) {
    double sum = 0.0;
    double weight = 0.0;
    for (int64_t f = 0; f < layer.filters; ++f) {
      if (draw.filters[f] == 0) continue;
      const auto peaks = layer.summaries.peaks_of(f);
      std::vector<std::pair<float, bool>> scores;
      for (std::size_t row = 0; row < peaks.size(); ++row) {
        for (int32_t i = 0; i < draw.rows[row]; ++i)
          scores.emplace_back(peaks[row], layer.row_category[row] == layer.filter_category[f]);
      }
      std::sort(scores.begin(), scores.end(), std::greater<>());
      auto right =
          std::count_if(scores.begin(), scores.end(), [](auto& one) { return !one.second; });
      auto best = right;
      for (std::size_t i = 0; i < scores.size(); ++i) {
        right += scores[i].second ? 1 : -1;
        if (i + 1 == scores.size() || scores[i + 1].first < scores[i].first)
          best = std::max(best, right);
      }
      sum += draw.filters[f] * (static_cast<double>(best) / static_cast<double>(scores.size()));
      weight += draw.filters[f];
    }
    return sum / weight;
  };
  return bootstrap_interval(layer.rows, layer.filters, bootstrap, statistic).draws.own;
}

void compare_single_filters() {
  const auto layer = make_layer(32, 1000);
  const BootstrapOptions bootstrap{.resamples = 200, .threads = 1};
  const LabelledRows labelled{layer.summaries, layer.row_category};
  const auto ours = [&] {
    return single_filter_accuracy(labelled, labelled, layer.filter_category, bootstrap);
  };
  const bool same = plain_fitted(layer, bootstrap) == ours().fitted.finding.draws.own;
  bench::compare(
      std::string("Single-filter accuracy, 32 filters, 1000 rows, 200 resamples, one thread, ") +
          (same ? "the same draws" : "OTHER draws"),
      {{"ours, all four numbers", [&] { ours(); }},
       {"sorting every resample, one of four", [&] { plain_fitted(layer, bootstrap); }}},
      3);
}

}  // namespace
}  // namespace partwise::metrics

int main(int count, char** arguments) {
  using namespace partwise::metrics;
  print_all(make_layer(512, 1000), count > 1 ? std::atoi(arguments[1]) : 1);
  compare_dissection();
  compare_single_filters();
  print_growth();
}
