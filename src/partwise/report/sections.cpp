#include "partwise/report/sections.h"

#include "partwise/base/error.h"
#include "partwise/base/progress.h"
#include "partwise/report/html.h"
#include "partwise/views/chart.h"

#include <fmt/format.h>

#include <algorithm>

namespace partwise::report {

namespace {

std::vector<RunFindings> findings_of(std::span<const LoadedRun> runs) {
  std::vector<RunFindings> all;
  for (const LoadedRun& run : runs) all.push_back(run.findings);
  return all;
}

std::string verdict_section(const std::vector<RunFindings>& findings) {
  std::string html;
  const auto groups = comparable_groups(findings);
  for (const auto& group : groups) {
    const RunFindings& first = group.front();
    if (groups.size() > 1) {
      html += fmt::format("<h3>{}, {}, split {}, {} images</h3>\n", text(first.net),
                          text(first.task), text(first.split), first.rows);
    }
    const Verdict words = verdict(group);
    html += "<div class=\"verdict\">\n";
    for (const auto& sentence : words.sentences) html += fmt::format("<p>{}</p>\n", text(sentence));
    html += fmt::format("</div>\n<p class=\"note\">{}</p>\n", text(words.basis));
  }
  const auto found = warnings(findings);
  if (!found.empty()) {
    html += "<h3>Before you believe it</h3>\n<ul class=\"warnings\">\n";
    for (const std::string& warning : found) html += fmt::format("<li>{}</li>\n", text(warning));
    html += "</ul>\n";
  }
  return html;
}

std::string arm_box(const ArmWords& arm, std::span<const LoadedRun> runs) {
  std::string html;
  for (const LoadedRun& run : runs) {
    if (run.findings.arm != arm.arm) continue;
    html += fmt::format(
        "<div class=\"series-{}\"><dt>{}</dt><dd>{}</dd><dd class=\"facts\">{}, {}, {} "
        "loss</dd></div>\n",
        run.style % views::kSeriesStyles, text(run.label), arm.meaning, text(run.findings.net),
        text(run.findings.task), text(run.findings.loss));
  }
  if (!html.empty()) return html;
  return fmt::format(
      "<div><dt>{}</dt><dd>{}</dd><dd class=\"facts\">not in this report</dd></div>\n",
      text(arm.arm), arm.meaning);
}

std::string training_section(std::span<const LoadedRun> runs) {
  std::string html =
      "<p>An ordinary convolutional network classifies well, but most of its filters answer to a "
      "mix of patterns: a bit of head, a bit of leg, some background. The method measured here "
      "trains a network whose top filters each stand for one part of one category, using image "
      "labels only. Up to four networks (“arms”) are trained on the same images; each adds one "
      "ingredient, "
      "so that an effect can be traced to its cause.</p>\n<dl class=\"arms\">\n";
  for (const ArmWords& arm : arms()) html += arm_box(arm, runs);
  for (const LoadedRun& run : runs) {
    if (arm_rank(run.findings.arm) < arms().size()) continue;
    html += fmt::format(
        "<div class=\"series-{}\"><dt>{}</dt><dd>An arm this program has no words "
        "for.</dd></div>\n",
        run.style % views::kSeriesStyles, text(run.label));
  }
  return html +
         "</dl>\n<p class=\"note\">The two measured layers are the top layer of the backbone, "
         "which all arms have, and the new layer, which the ordinary network lacks.</p>\n";
}

std::string results_section(std::span<const LoadedRun> runs) {
  std::string html =
      "<p>Each point is a measured value, the bar its 95\u00A0% interval. Controls are what "
      "something trivial would score; a number that does not pass its controls shows "
      "nothing, however good it looks.</p>\n";
  html += summary_table(runs);
  html += metric_block(runs, leading_numbers(true).front(), false);
  for (const NumberWords& metric : leading_numbers(false)) html += metric_block(runs, metric, true);
  return html;
}

std::string numbers_section(std::span<const LoadedRun> runs,
                            const std::vector<RunFindings>& findings) {
  std::string html = "<div id=\"downloads\"></div>\n<h3>What may be said</h3>\n";
  for (const auto& group : comparable_groups(findings)) html += claims_table(claims(group));
  html +=
      "<p class=\"note\">Beside each difference stands its 95\u00A0% interval, the one "
      "<code>partwise compare</code> prints. Many comparisons stand in this table: about one in "
      "twenty may look different by luck alone.</p>\n<h3>All numbers</h3>\n";
  return html + numbers_table(runs);
}

std::string confusion_section(std::span<const LoadedRun> runs) {
  std::string tables;
  for (const LoadedRun& run : runs) tables += confusion_table(run);
  if (tables.empty()) return "<p class=\"note\">The findings hold no confusion counts.</p>\n";
  return "<p>Which category was taken for which. The diagonal is right; shading is the share of "
         "the row.</p>\n<div class=\"grid2\">\n" +
         tables + "</div>\n";
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

std::string gallery_section(std::span<const LoadedRun> runs) {
  return "<p>Each card shows the images of its category on which a filter fires strongest, twice. "
         "Above, the photo is lit where the evidence lies, that is, the pixels the peak depends on "
         "most, and dim elsewhere; it is not dim where only activations were at hand. Below, the "
         "activation glows over the photo, with a ring around the unit that peaks. The two places "
         "may differ, since a unit sees far more than the spot it stands on.</p>\n<p>The category "
         "is the one the filter answers to, the part the annotated one it overlaps most often; "
         "neither is chosen by hand. Where filters were picked as best, at random and worst, the "
         "random ones are the fair sample.</p>\n<div class=\"open-all\"></div>\n" +
         gallery(runs);
}

std::string curves_section(std::span<const LoadedRun> runs) {
  const std::string charts = training_charts(runs);
  if (charts.empty()) return "<p class=\"note\">The runs hold no training log.</p>\n";
  return "<p>How training went, epoch by epoch. A filter loss that is too strong silences filters: "
         "watch the share that never fires.</p>\n" +
         charts;
}

std::string data_section(std::span<const LoadedRun> runs, const nlohmann::json& context) {
  const nlohmann::json dataset = context_object(context, "dataset");
  const RunFindings& first = runs.front().findings;
  std::string html = "<ul>\n";
  if (const auto name = context_text(dataset, "name"); !name.empty()) {
    html += fmt::format(
        "<li>Data set: <b>{}</b>{}</li>\n", text(name),
        dataset.contains("images") ? ", " + text(plain(dataset.at("images"))) + " images" : "");
  }
  html += fmt::format("<li>Measured on {} images of the split “{}”", first.rows, text(first.split));
  html += first.train_rows ? fmt::format("; trained on {}</li>\n", *first.train_rows) : "</li>\n";
  std::string categories;
  for (const std::string& category : first.categories) {
    categories += (categories.empty() ? "" : ", ") + text(category);
  }
  html += fmt::format("<li>{} categories: {}</li>\n</ul>\n", first.categories.size(), categories);
  const std::string sheet = context_text(dataset, "sheet");
  if (sheet.empty()) return html;
  const Picture picture = read_picture(sheet);
  return html + fmt::format(
                    "<figure><img class=\"sheet\" src=\"{}\" width=\"{}\" height=\"{}\" "
                    "alt=\"Sample images of the data set\"><figcaption>Sample "
                    "images.</figcaption></figure>\n",
                    picture.data_uri, picture.width, picture.height);
}

std::string provenance_section(std::span<const LoadedRun> runs, const nlohmann::json& context) {
  std::string html;
  if (const auto command = context_text(context, "command"); !command.empty()) {
    html += fmt::format("<p>This page comes from one command:</p>\n<pre><code>{}</code></pre>\n",
                        text(command));
  }
  if (const auto seconds = context.find("seconds");
      seconds != context.end() && seconds->is_number()) {
    html += fmt::format("<p>It took {}.</p>\n", readable_duration(seconds->get<double>()));
  }
  for (const LoadedRun& run : runs) {
    html += fmt::format(
        "<details><summary>{} <span class=\"note\">options and "
        "versions</span></summary>\n{}{}</details>\n",
        text(run.label), key_value_table(run.options, "Options of the run"),
        key_value_table(run.manifest, "Manifest: versions, checksums, dates"));
  }
  return html;
}

std::string limits_section() {
  return R"html(<ul>
<li><b>Concentrated is not the same as meaningful.</b> Purity and stability say that a filter fires in one place that moves with the object. That it <em>means</em> the part is an interpretation; the gallery lets you judge it.</li>
<li><b>Using a part is not shown by seeing it.</b> These numbers describe what filters respond to. They do not measure how much each filter contributes to a decision.</li>
<li><b>Intervals are from resampling images and filters</b> of the trained networks. They do not include the randomness of training; only several seeds do.</li>
<li><b>Part and landmark annotations limit what can be found.</b> A filter that stands for a part nobody annotated scores low on part interpretability, though it may be perfectly consistent.</li>
<li><b>Objects are cropped to their box</b> and resized to a square. Positions are therefore easier to predict than in whole photographs, which is why every location number stands beside a constant detector.</li>
<li><b>The filter’s category comes from training data</b> and the labels, not from the images measured here; where a filter of an ordinary network has no category of its own, the measuring step may choose the most favourable one, which flatters the baseline.</li>
<li><b>Results on one data set</b>, and on generated images in particular, do not carry over to others without being measured there.</li>
</ul>
)html";
}

}  // namespace

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
  const auto findings = findings_of(runs);
  std::vector<Section> all{
      {"verdict", "Verdict", verdict_section(findings)},
      {"trained", "What was trained", training_section(runs)},
      {"results", "Results and what they mean", results_section(runs)},
      {"filters", "What the filters see", gallery_section(runs)},
      {"numbers", "The full numbers", numbers_section(runs, findings)},
      {"confusion", "Which categories are confused", confusion_section(runs)},
      {"training", "Training curves", curves_section(runs)},
      {"data", "The data", data_section(runs, context)},
      {"provenance", "How it was made", provenance_section(runs, context)},
      {"limits", "Limits", limits_section()},
  };
  if (const auto figures = figures_section(runs); !figures.empty())
    all.insert(all.begin() + 4, {"figures", "The paper’s figures", figures});
  if (const auto further = further_measures(runs); !further.empty())
    all.insert(all.begin() + 3, {"further", "Further measures", further});
  return all;
}

}  // namespace partwise::report
