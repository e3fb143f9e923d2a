// Every metric on one VGG-16-sized layer: 512 filters, 1000 rows, 14 x 14 cells, 5 part masks of
// 224 x 224 pixels, 8 landmarks, 1000 bootstrap resamples, all cores.
#include "partwise/base/random.h"
#include "partwise/metrics/activation_magnitude.h"
#include "partwise/metrics/class_selectivity.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/network_dissection.h"
#include "partwise/metrics/part_consistency.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/part_labels.h"
#include "partwise/metrics/patch_purity.h"
#include "partwise/metrics/purity.h"
#include "partwise/metrics/single_filter_accuracy.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

namespace partwise::metrics {
namespace {

constexpr int64_t kRows = 1000;
constexpr int64_t kFilters = 512;
constexpr int64_t kSide = 14;
constexpr int64_t kCells = kSide * kSide;
constexpr UnitGrid kGrid{.offset = 7.5, .stride = 16.0, .input_side = 224};

struct Layer {
  std::vector<float> values;
  Truth truth;
  std::vector<int64_t> row_category;
  std::vector<int64_t> filter_category;
  MapSummaries summaries;

  [[nodiscard]] Maps maps() const { return {values, kRows, kFilters, kSide}; }
};

// ReLU-like noise, a third of the cells active.
const Layer& layer() {
  static const Layer made = [] {
    Layer layer;
    Random random(1);
    layer.values.resize(static_cast<std::size_t>(kRows * kFilters * kCells));
    for (auto& value : layer.values)
      value = static_cast<float>(std::max(0.0, random.uniform() * 3.0 - 2.0));
    layer.truth.input_side = 224;
    layer.truth.categories.resize(2);
    for (auto& category : layer.truth.categories) {
      for (int k = 0; k < 8; ++k) category.landmarks.push_back(std::to_string(k));
      for (int k = 0; k < 5; ++k) category.parts.push_back(std::to_string(k));
    }
    for (int64_t row = 0; row < kRows; ++row) {
      auto& truth = layer.truth.rows.emplace_back();
      truth.category = row % 2;
      for (int k = 0; k < 8; ++k)
        truth.landmarks.push_back({{random.uniform(0, 224), random.uniform(0, 224)}});
      for (int k = 0; k < 5; ++k) {
        truth.parts.emplace_back(224).insert_disc({random.uniform(0, 224), random.uniform(0, 224)},
                                                  random.uniform(10, 50));
      }
      layer.row_category.push_back(truth.category);
    }
    for (int64_t f = 0; f < kFilters; ++f) layer.filter_category.push_back(f % 2);
    layer.summaries = summarise(layer.maps(), 0);
    return layer;
  }();
  return made;
}

template <typename Measure>
void once(benchmark::State& state, const Measure& measure) {
  layer();
  for (auto _ : state) benchmark::DoNotOptimize(measure());
}

const BootstrapOptions kBootstrap{};

void bench_summaries(benchmark::State& state) {
  once(state, [] { return summarise(layer().maps(), 0); });
}
void bench_purity(benchmark::State& state) {
  once(state, [] { return purity(source_of(layer().maps()), kBootstrap); });
}
void bench_location_instability(benchmark::State& state) {
  once(state, [] {
    return location_instability(layer().summaries, kGrid, layer().truth, layer().filter_category,
                                {}, kBootstrap);
  });
}
void bench_part_interpretability(benchmark::State& state) {
  once(state, [] {
    return part_interpretability(source_of(layer().maps()), kGrid, layer().truth,
                                 layer().filter_category, {}, kBootstrap);
  });
}
void bench_part_labels(benchmark::State& state) {
  once(state, [] {
    return part_labels(source_of(layer().maps()), kGrid, layer().truth, layer().filter_category, {},
                       kBootstrap);
  });
}
void bench_single_filter_accuracy(benchmark::State& state) {
  once(state, [] {
    const LabelledRows labelled{layer().summaries, layer().row_category};
    return single_filter_accuracy(labelled, labelled, layer().filter_category, kBootstrap);
  });
}
void bench_activation_magnitude(benchmark::State& state) {
  once(state, [] {
    return activation_magnitude(layer().summaries, layer().row_category, layer().filter_category,
                                kBootstrap);
  });
}
void bench_class_selectivity(benchmark::State& state) {
  once(state,
       [] { return class_selectivity(layer().summaries, layer().row_category, 2, kBootstrap); });
}
void bench_patch_purity(benchmark::State& state) {
  once(state, [] { return patch_purity(layer().summaries, kGrid, layer().truth, {}, kBootstrap); });
}
void bench_part_consistency(benchmark::State& state) {
  once(state, [] {
    return part_consistency(layer().summaries, kGrid, layer().truth, layer().filter_category, {},
                            kBootstrap);
  });
}
void bench_part_stability(benchmark::State& state) {
  once(state, [] {
    return part_stability(layer().summaries, layer().summaries, kGrid, layer().truth,
                          layer().filter_category, {}, kBootstrap);
  });
}
void bench_dissection_2017(benchmark::State& state) {
  once(state, [] {
    return network_dissection(source_of(layer().maps()), kGrid, layer().truth, kDissection2017,
                              kBootstrap);
  });
}
void bench_dissection_2020(benchmark::State& state) {
  once(state, [] {
    return network_dissection(source_of(layer().maps()), kGrid, layer().truth, kDissection2020,
                              kBootstrap);
  });
}

#define PARTWISE_BENCH_ONCE(function) \
  BENCHMARK(function)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1)
PARTWISE_BENCH_ONCE(bench_summaries);
PARTWISE_BENCH_ONCE(bench_purity);
PARTWISE_BENCH_ONCE(bench_location_instability);
PARTWISE_BENCH_ONCE(bench_part_interpretability);
PARTWISE_BENCH_ONCE(bench_part_labels);
PARTWISE_BENCH_ONCE(bench_single_filter_accuracy);
PARTWISE_BENCH_ONCE(bench_activation_magnitude);
PARTWISE_BENCH_ONCE(bench_class_selectivity);
PARTWISE_BENCH_ONCE(bench_patch_purity);
PARTWISE_BENCH_ONCE(bench_part_consistency);
PARTWISE_BENCH_ONCE(bench_part_stability);
PARTWISE_BENCH_ONCE(bench_dissection_2017);
PARTWISE_BENCH_ONCE(bench_dissection_2020);

}  // namespace
}  // namespace partwise::metrics
