// Every metric against tests/reference/metrics_reference.py, which computes the same numbers of the
// same dump in another language; it says how the dump is made.
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/metrics/accuracy.h"
#include "partwise/metrics/activation_magnitude.h"
#include "partwise/metrics/adversarial_distortion.h"
#include "partwise/metrics/class_selectivity.h"
#include "partwise/metrics/comparison.h"
#include "partwise/metrics/exhibit_fixture.h"
#include "partwise/metrics/filter_mean.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/network_dissection.h"
#include "partwise/metrics/part_consistency.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/part_labels.h"
#include "partwise/metrics/patch_purity.h"
#include "partwise/metrics/purity.h"
#include "partwise/metrics/served_categories.h"
#include "partwise/metrics/silent_filters.h"
#include "partwise/metrics/single_filter_accuracy.h"
#include "partwise/metrics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace partwise::metrics {
namespace {

constexpr int64_t kRows = 40;
constexpr int64_t kFilters = 6;
constexpr int64_t kSide = 5;
constexpr int64_t kPixels = 45;
constexpr UnitGrid kGrid{.offset = 4.0, .stride = 9.0, .input_side = kPixels};
constexpr BootstrapOptions kBootstrap{.resamples = 25, .seed = 7, .threads = 2};
const std::vector<int64_t> kFilterCategory{0, 1, 0, 1, 0, 1};

float awkward_value(Random& random) {
  const double u = random.uniform();
  const int64_t kind = random.below(20);
  if (kind == 0) return NAN;
  if (kind < 6) return static_cast<float>(std::floor(std::max(0.0, 8 * u - 4)) / 4);
  return static_cast<float>(std::max(0.0, 2 * u - 1));
}

Exhibit make_dump(uint64_t seed) {
  Exhibit dump(kRows, kFilters, kSide, kGrid);
  Random random(seed);
  for (auto& value : dump.values) value = awkward_value(random);
  for (int64_t cell = 0; cell < kSide * kSide; ++cell) {
    for (int64_t row = 0; row < kRows; ++row) dump.at(row, kFilters - 1, cell) = 0.0F;
    dump.at(3, 1, cell) = NAN;
  }
  return dump;
}

std::vector<int64_t> row_categories() {
  std::vector<int64_t> categories;
  for (int64_t row = 0; row < kRows; ++row) categories.push_back(row % 5 == 4 ? -1 : row % 2);
  return categories;
}

Point point(Random& random) {
  const double x = random.uniform() * kPixels;
  return {x, random.uniform() * kPixels};
}

Truth make_truth(uint64_t seed) {
  Truth truth{kPixels,
              {{"cat", {"left eye", "right eye", "tail"}, {"head", "tail"}},
               {"dog", {"right eye", "tail"}, {"head", "leg"}}},
              {}};
  Random random(seed);
  for (const int64_t category : row_categories()) {
    auto& row = truth.rows.emplace_back();
    row.category = category;
    if (category < 0) continue;
    for (std::size_t k = 0; k < truth.categories[category].landmarks.size(); ++k) {
      auto& instances = row.landmarks.emplace_back();
      const int64_t count = random.below(3);
      for (int64_t i = 0; i < count; ++i) instances.push_back(point(random));
    }
    for (std::size_t k = 0; k < truth.categories[category].parts.size(); ++k) {
      const bool shown = random.uniform() < 0.75;
      const Point centre = point(random);
      const double radius = 3 + 9 * random.uniform();
      row.parts.push_back(shown ? disc(kPixels, centre, radius) : PixelSet(kPixels));
    }
  }
  return truth;
}

struct Decisions {
  std::vector<float> scores;
  std::vector<int64_t> labels;
};

Decisions make_decisions(uint64_t seed) {
  Decisions decisions;
  Random random(seed);
  for (int64_t i = 0; i < kRows * 3; ++i) {
    const double u = random.uniform();
    decisions.scores.push_back(random.below(12) == 0 ? NAN : static_cast<float>(std::floor(4 * u)));
  }
  for (int64_t row = 0; row < kRows; ++row) decisions.labels.push_back(random.below(3));
  return decisions;
}

class Reference : public ::testing::Test {
 protected:
  static void expect_same(const std::string& name, const nlohmann::json& wanted, double value) {
    EXPECT_EQ(wanted.is_null(), std::isnan(value)) << name;
    if (wanted.is_null()) return;
    // Sums are taken in another order there; nothing else differs.
    EXPECT_NEAR(value, wanted.get<double>(), 1e-9) << name;
  }

  void expect(const std::string& name, double value) {
    ASSERT_TRUE(numbers_.contains(name)) << name;
    expect_same(name, numbers_[name], value);
  }

  void expect(const std::string& name, const Finding& finding) {
    expect(name, finding.value);
    expect(name + ".low", finding.low);
    expect(name + ".high", finding.high);
    // Controls that are a constant by definition are not computed there.
    for (const auto& [control, value] : finding.controls) {
      if (numbers_.contains(name + "." + control)) expect(name + "." + control, value);
    }
  }

  template <typename Range, typename Number>
  void expect_all(const std::string& name, const Range& items, const Number& number) {
    ASSERT_TRUE(numbers_.contains(name)) << name;
    const auto& wanted = numbers_[name];
    ASSERT_EQ(wanted.size(), items.size()) << name;
    for (std::size_t i = 0; i < items.size(); ++i)
      expect_same(name + std::to_string(i), wanted[i], number(items[i]));
  }

  // NaN for a map of nothing but NaN.
  [[nodiscard]] double existing_peak(int64_t row, int64_t filter) const {
    const double value = maps_.peaks_of(filter)[row];
    return std::isinf(value) ? kNaN : value;
  }

  nlohmann::json numbers_ = read_json(std::filesystem::path(PARTWISE_SOURCE_DIR) /
                                      "tests/reference/metrics_reference.json");
  Exhibit dump_ = make_dump(101);
  Exhibit training_ = make_dump(102);
  Exhibit noisy_ = make_dump(103);
  Truth truth_ = make_truth(104);
  Decisions decisions_ = make_decisions(105);
  std::vector<int64_t> row_category_ = row_categories();
  MapSummaries maps_ = summarise(dump_.maps(), 1);
};

TEST_F(Reference, AgreesOnDecisions) {
  const auto& [scores, labels] = decisions_;
  expect("accuracy", accuracy(scores, 3, labels, kBootstrap));
  expect("balanced_accuracy", balanced_accuracy(scores, 3, labels, kBootstrap));
}

TEST_F(Reference, AgreesOnPurity) {
  expect("purity", purity(source_of(dump_.maps()), kBootstrap));
}

TEST_F(Reference, AgreesOnFiltersAtWork) {
  const auto work = silent_filters(maps_, kBootstrap);
  expect("silent_share", work.silent_share);
  expect("effective_filters", work.effective_filters);
  expect("smallest_category_share",
         smallest_category_share(maps_, kFilterCategory, std::vector<std::string>{"one", "other"},
                                 kBootstrap));
}

TEST_F(Reference, AgreesOnLocationInstability) {
  const auto result = location_instability(maps_, kGrid, truth_, kFilterCategory,
                                           {.top_images = 9, .shuffles = 3}, kBootstrap);
  expect("location_instability", result.instability);
  expect("instability_ratio", result.ratio);
}

TEST_F(Reference, AgreesOnParts) {
  const InterpretabilityOptions options{.quantile = 0.1, .iou = 0.2, .radius = 0.2};
  const auto parts = part_interpretability(source_of(dump_.maps()), kGrid, truth_, kFilterCategory,
                                           options, kBootstrap);
  expect("part_interpretability", parts.finding);
  expect_all("part_interpretability.filters", parts.filters,
             [](const auto& filter) { return filter.interpretability; });
  const auto labels =
      part_labels(source_of(dump_.maps()), kGrid, truth_, kFilterCategory, options, kBootstrap);
  const auto itself = [](double one) { return one; };
  expect("part_labels.iou", labels.iou.finding);
  expect("part_labels.margin", labels.margin.finding);
  expect_all("part_labels.iou.filters", labels.iou.by_filter, itself);
  expect_all("part_labels.margin.filters", labels.margin.by_filter, itself);
}

TEST_F(Reference, AgreesOnSingleFilters) {
  const auto training = summarise(training_.maps(), 1);
  const auto result = single_filter_accuracy({maps_, row_category_}, {training, row_category_},
                                             kFilterCategory, kBootstrap);
  const auto agree = [&](const std::string& name, const FilterMean& mean) {
    expect(name, mean.finding);
    expect_all(name + ".filters", mean.by_filter, [](double one) { return one; });
  };
  agree("single_filter.fitted", result.fitted);
  agree("single_filter.accuracy", result.accuracy);
  agree("single_filter.balanced", result.balanced);
  agree("single_filter.auc", result.auc);
}

TEST_F(Reference, AgreesOnMagnitudesAndSelectivity) {
  const auto result = activation_magnitude(maps_, row_category_, kFilterCategory, kBootstrap);
  expect("magnitude.on_target", result.on_target);
  expect("magnitude.on_other", result.on_other);
  expect("magnitude.ratio", result.ratio);
  const auto selective = class_selectivity(maps_, decisions_.labels, 3, kBootstrap);
  expect("class_selectivity", selective.finding);
  expect_all("class_selectivity.filters", selective.by_filter, [](double one) { return one; });
}

TEST_F(Reference, AgreesOnBoxesAroundPeaks) {
  const auto patches =
      patch_purity(maps_, kGrid, truth_, {.top_images = 8, .box = 0.3}, kBootstrap);
  const auto itself = [](double one) { return one; };
  expect("patch_purity.purity", patches.purity.finding);
  expect("patch_purity.strict", patches.strict.finding);
  expect("patch_purity.deviation", patches.purity.finding.facts.at("deviation").get<double>());
  expect_all("patch_purity.purity.filters", patches.purity.by_filter, itself);
  expect_all("patch_purity.strict.filters", patches.strict.by_filter, itself);
  const ConsistencyOptions options{.box = 0.4, .share = 0.35};
  const auto consistent =
      part_consistency(maps_, kGrid, truth_, kFilterCategory, options, kBootstrap);
  expect("consistency", consistent.finding);
  expect_all("consistency.filters", consistent.shares,
             [](double share) { return share >= 0.35 ? 1.0 : 0.0; });
  expect("stability", part_stability(maps_, summarise(noisy_.maps(), 1), kGrid, truth_,
                                     kFilterCategory, options, kBootstrap));
}

TEST_F(Reference, AgreesOnNetworkDissection) {
  const auto agree = [&](const std::string& name, const DissectionOptions& options) {
    const auto result =
        network_dissection(source_of(dump_.maps(), 7), kGrid, truth_, options, kBootstrap);
    expect(name, result.detectors);
    expect(name + ".unique", result.detectors.facts.at("unique").get<double>());
    expect_all(name + ".thresholds", result.units, [](const auto& one) { return one.threshold; });
    expect_all(name + ".ious", result.units, [](const auto& one) { return one.iou; });
    expect_all(name + ".chances", result.units, [](const auto& one) { return one.chance; });
  };
  agree("dissection_2017", {.quantile = 0.1});
  agree("dissection_2020", {.quantile = 0.1, .quantile_of = QuantileOf::pixels, .step = 4});
}

TEST_F(Reference, AgreesOnAttacks) {
  std::vector<AttackedRow> rows;
  for (int64_t row = 0; row < kRows; ++row)
    rows.push_back({existing_peak(row, 1), existing_peak(row, 2), false});
  const auto result = adversarial_distortion(rows, kBootstrap);
  expect("adversarial_distortion", result);
}

TEST_F(Reference, AgreesOnComparisons) {
  const auto number = [&](int64_t row, int64_t filter) { return existing_peak(row, filter); };
  const auto mean_peaks = [&](int64_t first_filter, int64_t filters) {
    const auto of_filter = [&](int64_t f, std::span<const int32_t> counts) {
      ExistingMean mean;
      for (int64_t row = 0; row < kRows; ++row)
        mean.add(number(row, first_filter + f), counts[row]);
      return mean.value();
    };
    constexpr double kAnything = std::numeric_limits<double>::infinity();
    return mean_over_filters(kRows, filters, kBootstrap, of_filter, -kAnything, kAnything).finding;
  };
  const auto agree = [&](const std::string& name, const Comparison& comparison) {
    expect(name, comparison.difference);
    expect(name + ".low", comparison.low);
    expect(name + ".high", comparison.high);
  };
  const auto early = mean_peaks(0, 4);
  const auto late = mean_peaks(3, 3);
  agree("comparison.paired", compare(early, late, true));
  agree("comparison.independent", compare(early, late, false));
  std::vector<double> runs;
  for (int64_t row = 0; row < 5; ++row) runs.push_back(number(row, 4));
  const auto seeds = mean_over_seeds(runs);
  agree("seeds", {seeds.mean, seeds.low, seeds.high, true});
}

}  // namespace
}  // namespace partwise::metrics
