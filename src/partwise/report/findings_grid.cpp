#include "partwise/report/findings_grid.h"

#include "partwise/report/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace partwise::report {
namespace {

std::vector<std::string> metric_keys(std::span<const NamedFindings> runs) {
  std::vector<std::string> keys;
  const auto add = [&](const std::string& key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  };
  for (const auto& words : run_metrics()) add(words.key);
  for (const auto& words : layer_metrics()) add(words.key);
  for (const auto& family : metric_families()) {
    for (const auto& words : family.metrics) add(words.key);
  }
  for (const auto& run : runs) {
    for (const auto& [key, measure] : run.findings.measures) add(key);
    for (const auto& layer : run.findings.layers) {
      for (const auto& [key, measure] : layer.measures) add(key);
    }
  }
  return keys;
}

}  // namespace

FindingsGrid findings_grid(std::span<const NamedFindings> runs) {
  FindingsGrid grid;
  for (const auto& run : runs) {
    for (const auto& layer : run.findings.layers) grid.columns.push_back({run.name, layer.layer});
  }
  for (const auto& key : metric_keys(runs)) {
    FindingsGrid::Line line{key, {}};
    for (const auto& run : runs) {
      for (std::size_t i = 0; i < run.findings.layers.size(); ++i) {
        const auto* measure = find_measure(run.findings.layers[i].measures, key);
        if (measure == nullptr && i == 0) measure = find_measure(run.findings.measures, key);
        line.cells.push_back(measure == nullptr ? std::nullopt : std::optional(*measure));
      }
    }
    const bool measured = std::any_of(line.cells.begin(), line.cells.end(),
                                      [](const auto& cell) { return cell.has_value(); });
    if (measured) grid.lines.push_back(std::move(line));
  }
  return grid;
}

std::string table_notes(std::span<const NamedFindings> runs) {
  std::string notes = "Values with 95 % intervals over images and filters";
  for (const auto& [name, run] : runs) {
    notes += fmt::format("; {}: {} images of split {}", name, run.rows, run.split);
    if (run.training_images.value_or(0) > 0)
      notes += fmt::format(", {} of them training images", *run.training_images);
  }
  return notes + '.';
}

std::string plain_number(std::optional<double> value) {
  if (!value) return "–";
  const bool small = *value != 0.0 && std::abs(*value) < 0.02;  // adversarial distortions are
  return small ? fmt::format("{:.5f}", *value) : fmt::format("{:.3f}", *value);
}

}  // namespace partwise::report
