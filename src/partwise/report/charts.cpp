#include "partwise/base/names.h"
#include "partwise/report/html.h"
#include "partwise/report/sections.h"
#include "partwise/views/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace partwise::report {

namespace {

views::IntervalRow interval_row(const LoadedRun& run,
                                const std::string& group,
                                const NumberWords& metric,
                                const Finding* finding) {
  if (finding == nullptr) return {group, run.label, "–", {}, {}, {}, run.style, {}};
  const auto known = [](double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  };
  views::IntervalRow row{group,
                         run.label,
                         shown(metric, *finding),
                         known(finding->value),
                         known(finding->low),
                         known(finding->high),
                         run.style,
                         {}};
  for (const auto& [name, value] : finding->controls) {
    if (known(value)) row.controls.push_back({control_name(name), value});
  }
  return row;
}

views::IntervalChart empty_chart(const NumberWords& metric) {
  return {fmt::format("chart-{}", anchor(metric.key)),
          metric.name,
          metric.axis,
          metric.is_share ? 100.0 : 1.0,
          {}};
}

std::string group_name(const LayerFindings& layer) {
  return layer.role.empty() ? layer.layer : layer.role;
}

// Layers with the same role stand together, in order of first appearance.
std::vector<std::string> groups_of(std::span<const LoadedRun> runs) {
  std::vector<std::string> groups;
  for (const LoadedRun& run : runs) {
    for (const LayerFindings& layer : run.findings.layers) {
      const auto name = group_name(layer);
      if (std::find(groups.begin(), groups.end(), name) == groups.end()) groups.push_back(name);
    }
  }
  return groups;
}

struct Curve {
  const char* key;
  const char* title;
  double scale;
};

constexpr std::array<Curve, 4> kRunCurves = {
    {{"loss", "Training loss", 1.0},
     {"train_accuracy", "Accuracy on training images, %", 100.0},
     {"test_accuracy", "Accuracy on test images, %", 100.0},
     {"learning_rate", "Learning rate", 1.0}}};
constexpr std::array<Curve, 4> kLayerCurves = {
    {{"purity", "Purity", 1.0},
     {"dead_share", "Filters that never fire, %", 100.0},
     {"gradient_ratio", "Filter gradient / task gradient", 1.0},
     {"effective_samples", "Effective samples behind a filter’s weights", 1.0}}};

std::optional<double> number_in(const nlohmann::json& row, const char* key) {
  if (!row.is_object()) return std::nullopt;
  const auto entry = row.find(key);
  if (entry == row.end() || !entry->is_number()) return std::nullopt;
  return entry->get<double>();
}

// The row's entry for a layer, or null.
nlohmann::json layer_in(const nlohmann::json& row, const std::string& layer) {
  if (!row.is_object() || !row.contains("layers") || !row.at("layers").is_array()) return {};
  for (const auto& entry : row.at("layers")) {
    if (entry.is_object() && entry.value("layer", nlohmann::json()) == layer) return entry;
  }
  return {};
}

template <typename Pick>
void add_series(views::LineChart& chart, const LoadedRun& run, const char* key, Pick pick) {
  views::LineSeries series{run.label, run.style, {}};
  bool any = false;
  for (std::size_t k = 0; k < run.log.size(); ++k) {
    const auto value = number_in(pick(run.log[k]), key);
    any = any || value.has_value();
    series.points.emplace_back(number_in(run.log[k], "epoch").value_or(static_cast<double>(k + 1)),
                               value);
  }
  if (any) chart.series.push_back(std::move(series));
}

// One chart a quantity; add(chart, key) gives it its series.
template <typename Add>
std::string panels(std::span<const Curve> curves,
                   const std::string& id,
                   const std::string& title,
                   const Add& add) {
  std::string html;
  for (const Curve& curve : curves) {
    views::LineChart chart{fmt::format("curve-{}{}", anchor(curve.key), id),
                           curve.title + title,
                           "epoch",
                           curve.scale,
                           {}};
    add(chart, curve.key);
    if (chart.series.empty()) continue;
    html += fmt::format("<figure class=\"panel\"><h3>{}</h3>{}</figure>\n", text(chart.title),
                        views::line_chart_svg(chart));
  }
  return html;
}

// What a finding has besides its number and controls, where it is a number.
std::string facts_of(std::span<const LoadedRun> runs, const NumberWords& metric) {
  std::string html;
  const auto add = [&](const LoadedRun& run, const std::string& layer, const Findings& found) {
    const Finding* finding = find_finding(found, metric.key);
    if (finding == nullptr) return;
    std::string facts;
    for (const auto& [fact, value] : finding->facts.items()) {
      if (value.is_number())
        facts += fmt::format("{}{} {:.4g}", facts.empty() ? "" : ", ", text(control_name(fact)),
                             value.get<double>());
    }
    if (facts.empty()) return;
    html += fmt::format("<li>{}{}: {}</li>\n", text(run.label),
                        layer.empty() ? "" : ", " + text(layer), facts);
  };
  for (const LoadedRun& run : runs) {
    add(run, "", run.findings.findings);
    for (const LayerFindings& layer : run.findings.layers) add(run, layer.layer, layer.findings);
  }
  return html.empty() ? "" : "<ul class=\"note\">" + html + "</ul>";
}

const char* hint(Better better) {
  return better == Better::higher  ? "higher is better"
         : better == Better::lower ? "lower is better"
                                   : "";
}

std::string network_charts(std::span<const LoadedRun> runs, const NumberWords& metric) {
  views::IntervalChart chart = empty_chart(metric);
  for (const LoadedRun& run : runs) {
    chart.rows.push_back(
        interval_row(run, "", metric, find_finding(run.findings.findings, metric.key)));
  }
  const std::string whole = views::interval_chart_svg(chart);
  chart.id += "-enlarged";
  chart.title += ", enlarged";
  for (views::IntervalRow& row : chart.rows) row.controls.clear();
  return fmt::format("{}<h4>The same, enlarged, without the controls</h4>{}", whole,
                     views::interval_chart_svg(chart));
}

std::string layer_chart(std::span<const LoadedRun> runs, const NumberWords& metric) {
  views::IntervalChart chart = empty_chart(metric);
  for (const std::string& group : groups_of(runs)) {
    for (const LoadedRun& run : runs) {
      for (const LayerFindings& layer : run.findings.layers) {
        if (group_name(layer) != group) continue;
        chart.rows.push_back(
            interval_row(run, group, metric, find_finding(layer.findings, metric.key)));
      }
    }
  }
  return views::interval_chart_svg(chart);
}

// The control that is hardest to pass, under one name for all numbers.
constexpr const char* kHardest = "the hardest one";

void keep_hardest(const NumberWords& metric, const Finding& finding, views::IntervalRow& row) {
  row.short_text = shown(metric, finding.value);
  row.controls.clear();
  const auto hardest = hardest_control(metric, finding);
  if (!hardest.empty()) row.controls.push_back({kHardest, finding.controls.at(hardest)});
}

}  // namespace

std::string headline_chart(std::span<const LoadedRun> runs) {
  const LoadedRun& leading = leading_run(runs);
  const auto& layers = leading.findings.layers;
  const std::string role = layers.empty() ? "" : layers.back().role;
  views::IntervalChart chart{
      "chart-headline", "Accuracy, part interpretability and purity", "share", 1.0, {}, true};
  std::vector<std::string> hardest;
  for (const char* key : {"accuracy", "part_interpretability", "purity"}) {
    const NumberWords& metric = *metrics::find_number(key);
    const bool of_network = metrics::find_metric(key)->is_of_network();
    if (!of_network && layers.empty()) continue;
    const auto find = [&](const LoadedRun& run) {
      return &run == &leading && !of_network && role.empty()
                 ? find_finding(layers.back().findings, key)
                 : find_finding(run.findings, of_network ? "" : role, key);
    };
    const Finding* own = find(leading);
    if (own == nullptr || !std::isfinite(own->value)) continue;
    const std::string group =
        of_network ? metric.name : fmt::format("{}, {}", metric.name, group_name(layers.back()));
    for (const LoadedRun& run : runs) {
      if (!are_comparable(leading.findings, run.findings)) continue;
      const Finding* finding = find(run);
      if (finding == nullptr) continue;
      auto row = interval_row(run, group, metric, finding);
      keep_hardest(metric, *finding, row);
      chart.rows.push_back(std::move(row));
    }
    const auto control = hardest_control(metric, *own);
    if (!control.empty()) hardest.push_back(control_name(control));
  }
  if (chart.rows.empty()) return "";
  return fmt::format(
      "<figure class=\"panel headline\">{}<figcaption>Higher is better; bars are 95\u00A0% "
      "intervals. The hardest control is what scores best without knowing the object{}."
      "</figcaption></figure>\n",
      views::interval_chart_svg(chart), hardest.empty() ? "" : ": " + text(join(hardest)));
}

std::string metric_block(std::span<const LoadedRun> runs,
                         const NumberWords& metric,
                         bool of_layers) {
  return fmt::format(
      "<div class=\"metric\"><div><h3>{} <span class=\"hint\">{}</span></h3><p>{}</p>"
      "<p><span class=\"lead\">Held against.</span> {}</p>"
      "<p><span class=\"lead\">What it cannot show.</span> {}</p>{}</div>"
      "<figure class=\"panel\">{}</figure></div>\n",
      metric.name, hint(metric.better), metric.meaning, metric.controls, metric.cannot_show,
      facts_of(runs, metric), of_layers ? layer_chart(runs, metric) : network_charts(runs, metric));
}

std::string training_charts(std::span<const LoadedRun> runs) {
  std::string html = panels(kRunCurves, "", "", [&](views::LineChart& chart, const char* key) {
    for (const LoadedRun& run : runs)
      add_series(chart, run, key, [](const nlohmann::json& row) { return row; });
  });
  const auto groups = groups_of(runs);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const auto add = [&](views::LineChart& chart, const char* key) {
      for (const LoadedRun& run : runs) {
        for (const LayerFindings& layer : run.findings.layers) {
          if (group_name(layer) != groups[k]) continue;
          add_series(chart, run, key,
                     [&](const nlohmann::json& row) { return layer_in(row, layer.layer); });
        }
      }
    };
    html += panels(kLayerCurves, fmt::format("-{}", k), ": " + groups[k], add);
  }
  return html.empty() ? "" : "<div class=\"grid2\">\n" + html + "</div>\n";
}

}  // namespace partwise::report
