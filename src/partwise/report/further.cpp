#include "partwise/report/further.h"

#include "partwise/report/charts.h"
#include "partwise/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace partwise::report {

namespace {

bool was_measured(std::span<const LoadedRun> runs, const NumberWords& number) {
  return std::any_of(runs.begin(), runs.end(), [&](const LoadedRun& run) {
    const auto& [whole, layers] = std::tie(run.findings.findings, run.findings.layers);
    return whole.contains(number.key) ||
           std::any_of(layers.begin(), layers.end(), [&](const LayerFindings& layer) {
             return layer.findings.contains(number.key);
           });
  });
}

// "head 45 %, torso 30 %": the most frequent part first.
std::string share_cell(findings::Shares shares) {
  std::erase_if(shares, [](const auto& share) { return !(share.second > 0.0); });
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string html;
  for (const auto& [part, share] : shares) {
    html +=
        fmt::format("<span class=\"share\" style=\"--share:{:.3f}\">{}\u00A0{:.0f}\u00A0%</span>",
                    share, text(part), 100.0 * share);
  }
  return html.empty() ? "–" : html;
}

// Which part the filters of each category stand for: the paper's table of semantics.
std::string share_table(std::span<const LoadedRun> runs) {
  std::string head;
  std::string body;
  for (const LoadedRun& run : runs) {
    for (const LayerFindings& layer : run.findings.layers) {
      const auto* labels = find_finding(layer.findings, "part_label_iou");
      if (labels == nullptr) continue;
      const auto by_category = findings::part_shares(*labels);
      if (by_category.empty()) continue;
      if (head.empty()) {
        for (const auto& [category, shares] : by_category)
          head += fmt::format("<th scope=\"col\">{}</th>", text(category));
      }
      body += fmt::format("<tr><th scope=\"row\">{} <span class=\"small\">{}</span></th>",
                          text(run.label), text(layer.layer));
      for (const auto& [category, shares] : by_category)
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

std::string measured_blocks(std::span<const LoadedRun> runs, const Metric& metric) {
  std::string blocks;
  for (const NumberWords& number : metric.numbers) {
    if (was_measured(runs, number)) blocks += metric_block(runs, number, !metric.is_of_network());
  }
  if (!blocks.empty() && metric.numbers.front().key == std::string("part_label_iou"))
    return share_table(runs) + blocks;
  return blocks;
}

}  // namespace

std::string further_measures(std::span<const LoadedRun> runs) {
  std::string html;
  const auto all = metrics::catalogue();
  for (auto metric = all.begin(); metric != all.end();) {
    const auto last = std::find_if(metric, all.end(), [&](const Metric& other) {
      return std::string(other.title) != metric->title;
    });
    std::string blocks;  // rows of the same title stand together
    for (auto one = metric; one != last; ++one)
      if (!one->leads) blocks += measured_blocks(runs, *one);
    if (!blocks.empty())
      html += fmt::format(
          "<details class=\"family\"><summary>{} <span class=\"note\">{}</span></summary>\n{}"
          "</details>\n",
          metric->title, metric->question, blocks);
    metric = last;
  }
  if (html.empty()) return "";
  return "<p>Other papers ask other questions of the same filters. Each block opens to its "
         "numbers, with 95\u00A0% intervals and controls; where the control “random weights” "
         "stands, it is the same network before training.</p>\n" +
         html;
}

}  // namespace partwise::report
