#include "partwise/report/html.h"
#include "partwise/report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace partwise::report {

namespace {

constexpr double kManyDead = 0.1;
constexpr double kManySilent = 0.25;
constexpr double kManySilentRows = 0.1;
constexpr int64_t kFewImages = 100;

void add_unique(std::vector<std::string>& all, std::string warning) {
  if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(std::move(warning));
}

void warn_about_run(const RunFindings& run, std::vector<std::string>& all) {
  if (run.training_images.value_or(0) > 0) {
    add_unique(all, fmt::format("{} of the {} images measured of {} are training images: what is "
                                "found there says little about new ones.",
                                *run.training_images, run.rows, run.arm));
  } else if (!run.training_images) {
    add_unique(all, fmt::format("Whether the network was trained on some of the {} images measured "
                                "of {} (split “{}”) is not known.",
                                run.rows, run.arm, run.split));
  }
  if (run.rows < kFewImages) {
    add_unique(all, fmt::format("Only {} images were measured; intervals this wide can hide real "
                                "differences.",
                                run.rows));
  }
  const Finding* accuracy = find_finding(run.findings, "accuracy");
  if (accuracy == nullptr) return;
  const auto majority = accuracy->controls.find("majority_class");
  if (majority != accuracy->controls.end() && std::isfinite(majority->second) &&
      relation(metrics::compare_with_control(majority->second, *accuracy)) != Relation::higher) {
    add_unique(all,
               fmt::format("{} does not classify better than always answering the most frequent "
                           "category; its other numbers describe an untrained network.",
                           run.arm));
  }
}

void warn_about_layer(const RunFindings& run,
                      const LayerFindings& layer,
                      std::vector<std::string>& all) {
  if (layer.dead_share > kManyDead) {
    add_unique(all, fmt::format("{} of the filters of {} at {} never fire; the others’ numbers do "
                                "not speak for them.",
                                percent(layer.dead_share), run.arm, layer.layer));
  }
  for (auto& warning : silence_warnings(run, layer)) add_unique(all, std::move(warning));
  for (const NumberWords& metric : leading_numbers(false)) {
    const Finding* finding = find_finding(layer.findings, metric.key);
    if (finding == nullptr || !std::isfinite(finding->value)) {
      add_unique(all, fmt::format("{} of {} at {} is not defined (shown as –): the data lacks what "
                                  "it needs, or nothing fired.",
                                  metric.name, run.arm, layer.layer));
    }
  }
}

void warn_about_comparison(std::span<const RunFindings> runs, std::vector<std::string>& all) {
  const auto groups = comparable_groups(runs);
  if (groups.size() > 1) {
    add_unique(all,
               "The runs differ in network, task, loss, split, images or how they were measured; "
               "only runs that agree in all of these are compared.");
  }
  std::set<std::string> present;
  for (const RunFindings& run : runs) present.insert(run.arm);
  std::string missing;
  for (const ArmWords& arm : arms()) {
    if (!present.contains(arm.arm)) missing += (missing.empty() ? "" : ", ") + std::string(arm.arm);
  }
  if (!missing.empty()) {
    add_unique(all, fmt::format("Not every arm was trained (missing: {}), so effects of the extra "
                                "layer, the mask and the filter loss cannot all be separated.",
                                missing));
  }
  const bool once = present.size() == runs.size();
  if (once) {
    add_unique(all,
               "Each arm was trained once. The intervals cover other test images and other "
               "filters, not another training run: a second seed may move every number.");
  }
}

}  // namespace

std::vector<std::string> silence_warnings(const RunFindings& run, const LayerFindings& layer) {
  std::vector<std::string> all;
  const std::string place =
      run.arm.empty() ? layer.layer : fmt::format("{} at {}", run.arm, layer.layer);
  const Finding* silent = find_finding(layer.findings, "silent_share");
  if (silent != nullptr && silent->value > kManySilent) {
    all.push_back(
        fmt::format("{} of the filters of {} are silent (below a twentieth of a strong "
                    "one); hold it against the masked network, and see docs/troubleshooting.md.",
                    percent(silent->value), place));
  }
  const Finding* served = find_finding(layer.findings, "smallest_category_share");
  if (served != nullptr && served->facts.contains("unserved")) {
    for (const auto& category : served->facts["unserved"]) {
      const auto name = category.get<std::string>();
      const auto found = layer.filters_per_category.find(name);
      const auto filters = found == layer.filters_per_category.end() ? 0 : found->second;
      all.push_back(fmt::format(
          "{} has {} of the {} filters of {}, less than a third of its "
          "fair share.",
          name, filters == 0 ? "none" : std::to_string(filters), layer.filters.value_or(0), place));
    }
  }
  const Finding* purity = find_finding(layer.findings, "purity");
  if (purity == nullptr) return all;
  const auto rows = purity->facts.find("silent_rows");
  if (rows == purity->facts.end() || !rows->is_number()) return all;
  if (std::isnan(purity->value)) {
    all.push_back(fmt::format("Nothing fires in {}: it has no purity.", place));
  } else if (rows->get<double>() > kManySilentRows) {
    all.push_back(
        fmt::format("On {} of the images nothing fires in {}: its purity is that of "
                    "the others.",
                    percent(rows->get<double>()), place));
  }
  return all;
}

std::vector<std::string> warnings(std::span<const RunFindings> runs) {
  std::vector<std::string> all;
  warn_about_comparison(runs, all);
  for (const RunFindings& run : runs) {
    warn_about_run(run, all);
    for (const LayerFindings& layer : run.layers) warn_about_layer(run, layer, all);
  }
  return all;
}

}  // namespace partwise::report
