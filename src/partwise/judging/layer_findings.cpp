#include "partwise/judging/layer_findings.h"

#include "partwise/base/error.h"
#include "partwise/judging/extra_metrics.h"
#include "partwise/metrics/activation_magnitude.h"
#include "partwise/metrics/class_selectivity.h"
#include "partwise/metrics/network_dissection.h"
#include "partwise/metrics/part_labels.h"
#include "partwise/metrics/purity.h"
#include "partwise/metrics/single_filter_accuracy.h"

#include <algorithm>
#include <cmath>

namespace partwise::judging {
namespace {

using nlohmann::json;

json number_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json filters_per_category(const metrics::Truth& truth, std::span<const int64_t> filter_category) {
  auto counts = json::object();
  for (const auto& category : truth.categories) counts[category.name] = 0;
  for (const int64_t category : filter_category) {
    auto& count = counts[truth.categories[static_cast<std::size_t>(category)].name];
    count = count.get<int64_t>() + 1;
  }
  return counts;
}

// One layer being measured: what the metrics share, and what they leave.
class Measuring {
 public:
  Measuring(const LayerMaps& layer, const Exam& exam, const LayerOptions& options)
      : layer_(layer),
        exam_(exam),
        options_(options),
        bootstrap_(options.bootstrap),
        summaries_(metrics::summarise(layer.maps, static_cast<int>(bootstrap_.threads))) {}

  LayerFindings run() {
    always();
    const auto when = [&](const char* name, auto measure) {
      if (wants(options_.extras, name)) (this->*measure)();
    };
    when("single_filter", &Measuring::single_filter);
    when("activation_magnitude", &Measuring::activation_magnitude);
    when("part_labels", &Measuring::part_labels);
    when("network_dissection", &Measuring::network_dissection);
    when("patch_purity", &Measuring::patch_purity);
    when("part_consistency", &Measuring::part_consistency);
    when("part_stability", &Measuring::part_stability);
    when("class_selectivity", &Measuring::class_selectivity);
    return std::move(result_);
  }

 private:
  void always() {
    const auto& truth = exam_.truth;
    result_.instability = metrics::location_instability(
        summaries_, layer_.grid, truth, exam_.filter_category, options_.instability, bootstrap_);
    result_.interpretability = metrics::part_interpretability(
        layer_.masked, layer_.masked_grid, truth, exam_.filter_category, options_.interpretability,
        bootstrap_);
    keep("purity", metrics::purity(layer_.maps, bootstrap_));
    keep("location_instability", result_.instability.instability);
    keep("instability_ratio", result_.instability.ratio);
    keep("part_interpretability", result_.interpretability.finding);
    result_.facts.update(
        {{"layer", layer_.name},
         {"side", layer_.maps.side},
         {"filters", layer_.maps.filters},
         {"input_side", layer_.grid.input_side},
         {"unit_stride", layer_.grid.stride},
         {"unit_offset", layer_.grid.offset},
         {"dead_share", metrics::dead_share(summaries_)},
         {"silent_share", result_.interpretability.silent_share},
         {"filters_per_category", filters_per_category(truth, exam_.filter_category)}});
  }

  void single_filter() {
    if (!exam_.judged) return;
    // Without training rows no threshold exists, and so none of the numbers that need one.
    const LabelledRows none{{0, summaries_.filters, summaries_.side, {}, {}, {}}, {}};
    const LabelledRows& training = exam_.training ? *exam_.training : none;
    const auto accuracy = metrics::single_filter_accuracy(
        {exam_.judged->summaries, exam_.judged->category}, {training.summaries, training.category},
        exam_.filter_category, bootstrap_);
    keep("single_filter_accuracy", accuracy.fitted, {{"best_filter", accuracy.best_fitted}});
    keep("single_filter_honest_accuracy", accuracy.accuracy);
    keep("single_filter_balanced_accuracy", accuracy.balanced,
         {{"best_filter", accuracy.best_trained}});
    keep("single_filter_auc", accuracy.auc);
  }

  void activation_magnitude() {
    if (!exam_.judged) return;
    const auto magnitude = metrics::activation_magnitude(
        exam_.judged->summaries, exam_.judged->category, exam_.filter_category, bootstrap_);
    keep("activation_on_target", magnitude.on_target);
    keep("activation_on_other", magnitude.on_other);
    keep("activation_ratio", magnitude.ratio);
  }

  void part_labels() {
    const auto labels =
        metrics::part_labels(layer_.masked, layer_.masked_grid, exam_.truth, exam_.filter_category,
                             options_.interpretability, bootstrap_);
    auto shares = json::object();
    for (std::size_t c = 0; c < labels.share.size(); ++c) {
      const auto& category = exam_.truth.categories[c];
      auto& of_category = shares[category.name] = json::object();
      for (std::size_t k = 0; k < labels.share[c].size(); ++k)
        of_category[category.parts[k]] = number_or_null(labels.share[c][k]);
    }
    keep("part_label_iou", labels.iou, {{"share_of_filters", shares}});
    keep("part_label_margin", labels.margin);
  }

  void network_dissection() {
    detectors("detectors_2017", metrics::kDissection2017);
    detectors("detectors_2020", metrics::kDissection2020);
  }

  void detectors(const std::string& key, const metrics::DissectionOptions& convention) {
    const auto found = metrics::network_dissection(layer_.masked, layer_.masked_grid, exam_.truth,
                                                   convention, bootstrap_);
    int64_t count = 0;
    std::map<std::string, int64_t> by_part;
    for (const auto& unit : found.units) {
      if (!(unit.iou > convention.iou)) continue;
      ++count;
      ++by_part[found.parts[static_cast<std::size_t>(unit.part)]];
    }
    keep(key, found.detectors,
         {{"count", count},
          {"unique", found.unique},
          {"chance_unique", found.chance_unique},
          {"by_part", by_part}});
  }

  void patch_purity() {
    const auto purity =
        metrics::patch_purity(summaries_, layer_.grid, exam_.truth, options_.patches, bootstrap_);
    keep("patch_purity", purity.purity,
         {{"deviation", number_or_null(purity.deviation)},
          {"part_related", number_or_null(purity.part_related)}});
    keep("patch_purity_strict", purity.strict);
  }

  void part_consistency() {
    keep("part_consistency",
         metrics::part_consistency(summaries_, layer_.grid, exam_.truth, exam_.filter_category,
                                   options_.consistency, bootstrap_)
             .finding);
  }

  void part_stability() {
    if (!exam_.noisy) return;
    keep("part_stability",
         metrics::part_stability(summaries_, *exam_.noisy, layer_.grid, exam_.truth,
                                 exam_.filter_category, options_.consistency, bootstrap_));
  }

  // A task with one category tells it from everything else: two classes.
  void class_selectivity() {
    if (!exam_.judged) return;
    auto row_class = exam_.judged->category;
    auto classes = std::ssize(exam_.truth.categories);
    if (classes == 1) {
      for (auto& shown : row_class) ++shown;
      ++classes;
    }
    keep("class_selectivity",
         metrics::class_selectivity(exam_.judged->summaries, row_class, classes, bootstrap_)
             .finding);
  }

  void keep(const std::string& key, const metrics::Finding& finding, const json& more = {}) {
    result_.findings[key] = finding;
    if (!more.is_null()) result_.facts[key] = more;
  }

  const LayerMaps& layer_;
  const Exam& exam_;
  const LayerOptions& options_;
  const metrics::BootstrapOptions& bootstrap_;
  metrics::MapSummaries summaries_;
  LayerFindings result_{{}, json::object(), {}, {}};
};

}  // namespace

LayerFindings layer_findings(const LayerMaps& layer,
                             const Exam& exam,
                             const LayerOptions& options) {
  return Measuring(layer, exam, options).run();
}

json to_json(const LayerFindings& findings) {
  auto result = findings.facts;
  for (const auto& [key, finding] : findings.findings) {
    auto& entry = result[key];
    if (entry.is_null()) entry = json::object();
    entry.update(metrics::to_json(finding));
    entry["layer"] = findings.facts.at("layer");
  }
  return result;
}

}  // namespace partwise::judging
