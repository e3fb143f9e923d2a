#include "partwise/report/further.h"

#include "partwise/report/charts.h"
#include "partwise/report/glossary.h"
#include "partwise/report/html.h"

#include <fmt/format.h>

#include <algorithm>

namespace partwise::report {

namespace {

bool was_measured(std::span<const LoadedRun> runs, const MetricWords& metric) {
  return std::any_of(runs.begin(), runs.end(), [&](const LoadedRun& run) {
    return find_measure(run.findings.measures, metric.key) != nullptr ||
           std::any_of(run.findings.layers.begin(), run.findings.layers.end(),
                       [&](const LayerFindings& layer) {
                         return find_measure(layer.measures, metric.key) != nullptr;
                       });
  });
}

// "head 45 %, torso 30 %": the most frequent part first.
std::string share_cell(const PartShares& shares) {
  auto sorted = shares;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.value_or(-1.0) > b.second.value_or(-1.0);
  });
  std::string html;
  for (const auto& [part, share] : sorted) {
    if (share.value_or(0.0) <= 0.0) continue;
    html +=
        fmt::format("<span class=\"share\" style=\"--share:{:.3f}\">{}\u00A0{:.0f}\u00A0%</span>",
                    *share, text(part), 100.0 * *share);
  }
  return html.empty() ? "–" : html;
}

// Which part the filters of each category stand for: the paper's table of semantics.
std::string share_table(std::span<const LoadedRun> runs) {
  std::string head;
  std::string body;
  for (const LoadedRun& run : runs) {
    for (const LayerFindings& layer : run.findings.layers) {
      if (layer.part_shares.empty()) continue;
      if (head.empty()) {
        for (const auto& [category, shares] : layer.part_shares)
          head += fmt::format("<th scope=\"col\">{}</th>", text(category));
      }
      body += fmt::format("<tr><th scope=\"row\">{} <span class=\"small\">{}</span></th>",
                          text(run.label), text(layer.layer));
      for (const auto& [category, shares] : layer.part_shares)
        body += fmt::format("<td>{}</td>", share_cell(shares));
      body += "</tr>\n";
    }
  }
  if (body.empty()) return "";
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Part labels\">"
      "<table class=\"shares\"><caption>Of the filters that stand for a category, the share named "
      "after each of its parts</caption>\n<thead><tr><th "
      "scope=\"col\">Filters</th>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
      head, body);
}

std::string family_block(std::span<const LoadedRun> runs, const MetricFamily& family) {
  std::string blocks;
  for (const MetricWords& metric : family.metrics) {
    if (was_measured(runs, metric)) blocks += metric_block(runs, metric, !family.of_network);
  }
  if (blocks.empty()) return "";
  const bool labels = family.metrics.front().key == std::string("part_label_iou");
  return fmt::format(
      "<details class=\"family\"><summary>{} <span class=\"note\">{}</span></summary>\n{}{}"
      "</details>\n",
      family.title, family.question, labels ? share_table(runs) : "", blocks);
}

}  // namespace

std::string further_measures(std::span<const LoadedRun> runs) {
  std::string html;
  for (const MetricFamily& family : metric_families()) html += family_block(runs, family);
  if (html.empty()) return "";
  return "<p>Other papers ask other questions of the same filters. Each block opens to its "
         "numbers, "
         "with 95\u00A0% intervals and controls; where the control “random weights” stands, it is "
         "the same network before training.</p>\n" +
         html;
}

}  // namespace partwise::report
