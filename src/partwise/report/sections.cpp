#include "partwise/report/sections.h"

#include "partwise/base/error.h"
#include "partwise/base/progress.h"
#include "partwise/formats/base64.h"
#include "partwise/report/exported_tables.h"
#include "partwise/report/html.h"
#include "partwise/views/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace partwise::report {

namespace {

std::vector<RunFindings> findings_of(std::span<const LoadedRun> runs) {
  std::vector<RunFindings> all;
  for (const LoadedRun& run : runs) all.push_back(run.findings);
  return all;
}

// Filters that do nothing and categories without filters: what goes wrong, not what is claimed.
bool tells_of_failures(const Metric& metric) {
  const std::string key = metric.numbers.front().key;
  return key == "silent_share" || key == "smallest_category_share";
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
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Part labels\">"
      "<table class=\"shares\"><caption>Of the filters that stand for a category, the share named "
      "after each of its parts</caption>\n<thead><tr><th "
      "scope=\"col\">Filters</th>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
      head, body);
}

std::string measured_blocks(std::span<const LoadedRun> runs, const Metric& metric) {
  std::string blocks;
  for (const NumberWords& number : metric.numbers) {
    const bool measured = std::any_of(runs.begin(), runs.end(), [&](const LoadedRun& run) {
      return was_measured(run.findings, number.key);
    });
    if (measured) blocks += metric_block(runs, number, !metric.is_of_network());
  }
  if (!blocks.empty() && metric.numbers.front().key == std::string("part_label_iou"))
    return share_table(runs) + blocks;
  return blocks;
}

// The measures beyond the first four, a folded block for each family of which something was
// measured, with its words and charts; "" without any.
std::string further_measures(std::span<const LoadedRun> runs) {
  std::string html;
  const auto all = metrics::catalogue();
  for (auto metric = all.begin(); metric != all.end();) {
    const auto last = std::find_if(metric, all.end(), [&](const Metric& other) {
      return std::string(other.title) != metric->title;
    });
    std::string blocks;  // rows of the same title stand together
    for (auto one = metric; one != last; ++one)
      if (!one->leads && !tells_of_failures(*one)) blocks += measured_blocks(runs, *one);
    if (!blocks.empty())
      html += fmt::format(
          "<details class=\"family\"><summary>{} <span class=\"note\">{}</span></summary>\n{}"
          "</details>\n",
          metric->title, metric->question, blocks);
    metric = last;
  }
  if (html.empty()) return "";
  return "<h3>Further measures</h3><p>Other papers ask other questions of the same filters. Where "
         "the control “random weights” stands, it is the same network before training.</p>\n" +
         html;
}

// What each group of comparable runs allows to be said; the sentences of one group alone stand on
// the first screen.
std::string said_of_groups(std::span<const LoadedRun> runs) {
  const auto groups = comparable_groups(findings_of(runs));
  std::string html;
  for (const auto& group : groups) {
    const RunFindings& first = group.front();
    const Verdict words = verdict(group);
    if (groups.size() > 1) {
      html += fmt::format("<h3>{}, {}, split {}, {} images</h3>\n<ul>\n", text(first.net),
                          text(first.task), text(first.split), first.rows);
      for (const auto& sentence : words.sentences)
        html += fmt::format("<li>{}</li>\n", text(sentence));
      html += "</ul>\n";
    }
    html += fmt::format("<p class=\"note\">{}</p>\n", text(words.basis));
    html += claims_table(claims(group));
  }
  return html;
}

std::string evidence_section(std::span<const LoadedRun> runs) {
  std::string html =
      "<p>Controls are what something trivial would score; a number that does not pass its "
      "controls shows nothing, however good it looks.</p>\n";
  html += said_of_groups(runs);
  html +=
      "<p class=\"note\">Many comparisons stand in this table: about one in twenty may look "
      "different by luck alone.</p>\n<h3>All networks</h3>\n";
  html += summary_table(runs);
  html += "<h3>What the numbers mean</h3>\n";
  std::string undefined;
  for (const Metric& metric : metrics::catalogue()) {
    if (!metric.leads || tells_of_failures(metric)) continue;
    const auto first = metric.numbers.begin();
    for (auto number = first; number != metric.numbers.end(); ++number) {
      if (number != first && metric.is_of_network()) continue;
      if (is_defined(runs, number->key))
        html += metric_block(runs, *number, !metric.is_of_network());
      else
        undefined += (undefined.empty() ? "" : ", ") + std::string(number->name);
    }
  }
  if (!undefined.empty())
    html += fmt::format(
        "<p class=\"note\">Not defined on this data: {}. Measures of parts and places need data "
        "that names parts or landmarks.</p>\n",
        undefined);
  return html + further_measures(runs);
}

std::string filters_section(std::span<const LoadedRun> runs) {
  std::string html =
      "<p>Each card shows the images of its category on which a filter fires strongest, twice. "
      "Above, the photo is lit where the evidence lies, that is, the pixels the peak depends on "
      "most, and dim elsewhere; it is not dim where only activations were at hand. Below, the "
      "activation glows over the photo, with a ring around the unit that peaks. The two places "
      "may differ, since a unit sees far more than the spot it stands on. The category is the one "
      "the filter answers to, the part the annotated one it overlaps most often; neither is chosen "
      "by hand. The filters drawn at random are the fair sample.</p>\n" +
      gallery(runs);
  if (const auto figures = figures_html(runs, false); !figures.empty())
    html +=
        "<h3>The paper’s figures</h3>\n<p>Drawn of these networks. Filters and images were "
        "drawn at random, not picked: each caption says how.</p>\n" +
        figures;
  return html;
}

std::string failures_section(std::span<const LoadedRun> runs) {
  std::string html;
  const auto found = warnings(findings_of(runs));
  if (!found.empty()) {
    html += "<h3>Before you believe it</h3>\n<ul class=\"warnings\">\n";
    for (const std::string& warning : found) html += fmt::format("<li>{}</li>\n", text(warning));
    html += "</ul>\n";
  }
  html += "<h3>Wrong decisions</h3>\n";
  const auto confused = confusions(runs);
  html += confused.empty() ? "<p class=\"note\">No decisions were counted.</p>\n" : confused;
  html += figures_html(runs, true);
  std::string silent;
  for (const Metric& metric : metrics::catalogue())
    if (tells_of_failures(metric)) silent += measured_blocks(runs, metric);
  if (!silent.empty()) html += "<h3>Filters that do nothing</h3>\n" + silent;
  return html + R"html(<h3>What no number here shows</h3>
<ul>
<li><b>Concentrated is not the same as meaningful.</b> Purity and stability say that a filter fires in one place that moves with the object. That it <em>means</em> the part is an interpretation; the filters’ pictures let you judge it.</li>
<li><b>Intervals are from resampling images and filters</b> of the trained networks. They do not include the randomness of training; only several seeds do.</li>
<li><b>Annotations limit what can be found.</b> A filter that stands for a part nobody annotated scores low on part interpretability, though it may be perfectly consistent.</li>
<li><b>Objects are cropped to their box</b> and resized to a square. Positions are therefore easier to predict than in whole photographs, which is why every location number stands beside a constant detector.</li>
<li><b>The filter’s category comes from training data</b> and the labels, not from the images measured here; where a filter of an ordinary network has no category of its own, the measuring step may choose the most favourable one, which flatters the baseline.</li>
<li><b>Results on one data set</b>, and on generated images in particular, do not carry over to others without being measured there.</li>
</ul>
)html";
}

std::string networks_list(std::span<const LoadedRun> runs) {
  std::string html;
  for (const LoadedRun& run : runs) {
    const auto rank = arm_rank(run.findings.arm);
    html += fmt::format(
        "<div class=\"series-{}\"><dt>{}</dt><dd>{}</dd><dd class=\"facts\">{}, {}, {} "
        "loss</dd></div>\n",
        run.style % views::kSeriesStyles, text(run.label),
        rank < arms().size() ? arms()[rank].meaning : "An arm this program has no words for.",
        text(run.findings.net), text(run.findings.task), text(run.findings.loss));
  }
  return fmt::format(
      "<h3>The networks</h3>\n<p>Each arm adds one ingredient to the one before it, so that an "
      "effect can be traced to its cause. The top layer of the backbone is in all of them; the "
      "ordinary network lacks the new layer.</p>\n<dl class=\"arms\">\n{}</dl>\n",
      html);
}

std::string data_html(std::span<const LoadedRun> runs, const nlohmann::json& context) {
  const nlohmann::json dataset = context_object(context, "dataset");
  const RunFindings& first = leading_run(runs).findings;
  std::string html = "<h3>The data</h3>\n<ul>\n";
  if (const auto name = context_text(dataset, "name"); !name.empty()) {
    html += fmt::format(
        "<li>Data set: <b>{}</b>{}</li>\n", text(name),
        dataset.contains("images") ? ", " + text(plain(dataset.at("images"))) + " images" : "");
  }
  html += fmt::format("<li>Measured on {} images of the split “{}”", first.rows, text(first.split));
  html += first.train_rows ? fmt::format("; trained on {}</li>\n", *first.train_rows) : "</li>\n";
  std::string categories;
  for (const std::string& category : first.categories)
    categories += (categories.empty() ? "" : ", ") + text(category);
  html += fmt::format("<li>{} {}: {}</li>\n</ul>\n", first.categories.size(),
                      first.categories.size() == 1 ? "category" : "categories", categories);
  const std::string sheet = context_text(dataset, "sheet");
  if (sheet.empty()) return html;
  const Picture picture = read_picture(sheet, 1000);
  return html + fmt::format(
                    "<details><summary>Sample images</summary><img class=\"sheet\" src=\"{}\" "
                    "width=\"{}\" height=\"{}\" alt=\"Sample images of the data set, one row per "
                    "category\"></details>\n",
                    picture.data_uri, picture.width, picture.height);
}

std::string making_section(std::span<const LoadedRun> runs, const nlohmann::json& context) {
  std::string html;
  if (const auto command = context_text(context, "command"); !command.empty()) {
    html += fmt::format("<p>This page comes from one command:</p>\n<pre><code>{}</code></pre>\n",
                        text(command));
  }
  if (const auto seconds = context.find("seconds");
      seconds != context.end() && seconds->is_number()) {
    html += fmt::format("<p>It took {}.</p>\n", readable_duration(seconds->get<double>()));
  }
  html += networks_list(runs);
  if (const auto start = context_text(context, "start"); !start.empty())
    html += fmt::format("<p>{}</p>\n", text(start));
  html += data_html(runs, context) + "<h3>Training</h3>\n";
  if (const auto charts = training_charts(runs); !charts.empty()) {
    html +=
        fmt::format("<details><summary>Training, epoch by epoch</summary>\n{}</details>\n", charts);
  } else {
    html += "<p class=\"note\">The runs hold no training log.</p>\n";
  }
  std::vector<std::string> labels;
  std::vector<nlohmann::json> options;
  std::vector<nlohmann::json> manifests;
  for (const LoadedRun& run : runs) {
    labels.push_back(run.label);
    options.push_back(run.options);
    manifests.push_back(run.manifest);
  }
  return html + fmt::format(
                    "<details><summary>Options, seeds and versions</summary>\n{}{}"
                    "</details>\n",
                    side_by_side(labels, options, "Options; those that differ first"),
                    side_by_side(labels, manifests, "Versions, checksums and dates"));
}

std::string outdated_list(const nlohmann::json& context) {
  std::string html;
  for (const auto& sentence : context.value("outdated", nlohmann::json::array()))
    html += fmt::format("<li>{}</li>\n", text(plain(sentence)));
  return html.empty() ? "" : fmt::format("<ul class=\"warnings\">\n{}</ul>\n", html);
}

std::string csv_section(std::span<const LoadedRun> runs) {
  std::vector<findings::NamedFindings> named;
  for (const LoadedRun& run : runs) named.push_back({run.label, run.findings});
  const auto csv = findings_csv(named);
  return fmt::format(
      "<p>Every number with its interval and every control, one line each. <a class=\"tool\" "
      "download=\"partwise-report.csv\" href=\"data:text/csv;charset=utf-8;base64,{}\">Download "
      "the CSV</a></p>\n<details><summary>Read it here <span class=\"note\">({} "
      "lines)</span></summary>\n<pre class=\"csv\" tabindex=\"0\">{}</pre></details>\n",
      formats::base64(csv), std::count(csv.begin(), csv.end(), '\n'), text(csv));
}

}  // namespace

bool is_defined(std::span<const LoadedRun> runs, const std::string& key) {
  const auto is_number = [&](const findings::Findings& found) {
    const auto* finding = find_finding(found, key);
    return finding != nullptr && std::isfinite(finding->value);
  };
  return std::any_of(runs.begin(), runs.end(), [&](const LoadedRun& run) {
    const auto& layers = run.findings.layers;
    return is_number(run.findings.findings) ||
           std::any_of(layers.begin(), layers.end(),
                       [&](const LayerFindings& layer) { return is_number(layer.findings); });
  });
}

std::string context_text(const nlohmann::json& context, const std::string& key) {
  const auto entry = context.find(key);
  if (entry == context.end() || entry->is_null()) return "";
  ensure(entry->is_string(), "report context: {} is {}, expected a string", key, entry->dump());
  return entry->get<std::string>();
}

const nlohmann::json& context_object(const nlohmann::json& context, const std::string& key) {
  static const nlohmann::json nothing = nlohmann::json::object();
  const auto entry = context.find(key);
  if (entry == context.end() || entry->is_null()) return nothing;
  ensure(entry->is_object(), "report context: {} is {}, expected an object", key, entry->dump());
  return *entry;
}

std::vector<Section> sections(std::span<const LoadedRun> runs, const nlohmann::json& context) {
  return {
      {"glance", "At a glance", outdated_list(context) + opening(runs)},
      {"evidence", "Evidence", evidence_section(runs)},
      {"filters", "Filters", filters_section(runs)},
      {"failures", "Failures", failures_section(runs)},
      {"making", "How it was made", making_section(runs, context)},
      {"csv", "The numbers as CSV", csv_section(runs)},
  };
}

}  // namespace partwise::report
