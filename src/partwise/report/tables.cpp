#include "partwise/report/tables.h"

#include "partwise/report/glossary.h"
#include "partwise/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace partwise::report {

namespace {

std::string raw(std::optional<double> value) {
  return value ? fmt::format(" data-value=\"{:.6g}\"", *value) : "";
}

// For a cell whose words matter more than its number.
std::string sort_key(std::optional<double> value) {
  return value ? fmt::format(" data-sort=\"{:.6g}\"", *value) : "";
}

std::string number_cell(std::optional<double> value, const std::string& words) {
  return fmt::format("<td class=\"number\"{}>{}</td>", raw(value), words);
}

// The value with its interval in small print under it.
std::string measure_cell(const MetricWords& metric, const Measure* measure) {
  if (measure == nullptr || !measure->value) return "<td class=\"number\">–</td>";
  const std::string whole = shown(metric, *measure);
  const auto interval = whole.find('[');
  return number_cell(measure->value,
                     fmt::format("{} <span class=\"small\">{}</span>",
                                 shown(metric, measure->value), whole.substr(interval)));
}

std::string table(const std::string& name,
                  const std::string& caption,
                  const std::string& head,
                  const std::string& body) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">"
      "<table class=\"sortable\" "
      "data-name=\"{1}\"><caption>{0}</caption>\n<thead><tr>{2}</tr></thead>"
      "<tbody>\n{3}</tbody></table></div>\n",
      caption, name, head, body);
}

std::string heads(std::initializer_list<const char*> names, std::size_t text_columns) {
  std::string html;
  std::size_t column = 0;
  for (const char* name : names) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column++ < text_columns ? "" : " class=\"number\"", name);
  }
  return html;
}

std::string layer_words(const LayerFindings& layer) {
  if (layer.role.empty()) return text(layer.layer);
  return fmt::format("{} <span class=\"small\">{}</span>", text(layer.layer), text(layer.role));
}

// A measure this program has no words for is still shown, under its own key.
MetricWords words_for(const std::string& key, const std::string& name) {
  if (const MetricWords* known = find_metric(key)) return *known;
  return {key.c_str(), name.c_str(), Better::higher, false, "", "", "", ""};
}

std::string number_rows(const std::string& label,
                        const std::string& layer,
                        const std::map<std::string, Measure>& measures) {
  std::string html;
  for (const auto& [key, measure] : measures) {
    const std::string name = control_name(key);
    const MetricWords words = words_for(key, name);
    std::string controls;
    for (const auto& [control, value] : measure.controls) {
      controls += fmt::format("{}{} {}", controls.empty() ? "" : "; ", text(control_name(control)),
                              shown(words, value));
    }
    for (const auto& [name_of_more, value] : measure.further)
      controls += fmt::format(" <span class=\"small\">{} {:.4g}</span>",
                              text(control_name(name_of_more)), value);
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>{}{}{}<td>{}</td></tr>\n", text(label),
        layer, text(words.name), number_cell(measure.value, shown(words, measure.value)),
        number_cell(measure.low, shown(words, measure.low)),
        number_cell(measure.high, shown(words, measure.high)), controls.empty() ? "–" : controls);
  }
  return html;
}

std::string signed_difference(const Claim& claim) {
  if (!claim.difference) return "–";
  const bool share = claim.metric->is_share;
  const double size = *claim.difference * (share ? 100.0 : 1.0);
  const std::string digits = decimal(size, share ? 1 : 3);
  return (size > 0 ? "+" : "") + digits + (share ? " points" : "");
}

const char* judgement_class(const Claim& claim) {
  const std::string word = judgement(claim);
  return word == "better" ? "better" : word == "worse" ? "worse" : "unclear";
}

std::string claim_words(const Claim& claim) {
  return fmt::format("<span class=\"{}\">{}</span>", judgement_class(claim), judgement(claim));
}

// "0.783 [0.751, 0.812]" with the interval in small print under it.
std::string stacked(const std::string& value) {
  const auto interval = value.find(" [");
  if (interval == std::string::npos) return value;
  return fmt::format("{} <span class=\"small keep\">{}</span>", value.substr(0, interval),
                     value.substr(interval + 1));
}

// Claims about one number of one layer, one column an arm and one for all controls.
std::string claims_row(std::span<const Claim> claims, const std::vector<std::string>& others) {
  const Claim& first = claims.front();
  std::string html = fmt::format(
      R"(<tr><th scope="row">{} <span class="small">{}</span></th><td>{}</td>)", first.metric->name,
      first.role.empty() ? "whole network" : text(first.role), stacked(first.subject_value));
  for (const std::string& other : others) {
    const auto claim = std::find_if(claims.begin(), claims.end(), [&](const Claim& one) {
      return !one.is_control && one.other == other;
    });
    html += claim == claims.end()
                ? "<td>–</td>"
                : fmt::format("<td{}>{} {} <span class=\"small keep\">{}</span></td>",
                              sort_key(claim->difference), claim_words(*claim),
                              signed_difference(*claim), claim->other_value);
  }
  std::string controls;
  for (const Claim& claim : claims) {
    if (!claim.is_control) continue;
    controls += fmt::format(" <span class=\"small\">{} {}: {}</span>", text(claim.other),
                            claim.other_value, claim_words(claim));
  }
  return html + fmt::format("<td>{}</td></tr>\n", controls.empty() ? "–" : controls);
}

}  // namespace

std::string summary_table(std::span<const LoadedRun> runs) {
  std::string body;
  for (const LoadedRun& run : runs) {
    for (const LayerFindings& layer : run.findings.layers) {
      body += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", text(run.label),
                          layer_words(layer));
      body +=
          measure_cell(*find_metric("accuracy"), find_measure(run.findings.measures, "accuracy"));
      for (const MetricWords& metric : layer_metrics()) {
        body += measure_cell(metric, find_measure(layer.measures, metric.key));
      }
      body += number_cell(layer.dead_share, percent(layer.dead_share)) + "</tr>\n";
    }
  }
  return table(
      "summary",
      "All arms at a glance; 95\u00A0% intervals below each value. Accuracy belongs to the whole "
      "network and repeats for its layers.",
      heads({"Arm", "Layer", "Accuracy&nbsp;↑", "Purity&nbsp;↑", "Instability ratio&nbsp;↓",
             "Part interpret&shy;ability&nbsp;↑", "Location instability&nbsp;↓", "Dead filters"},
            2),
      body);
}

std::string numbers_table(std::span<const LoadedRun> runs) {
  std::string body;
  for (const LoadedRun& run : runs) {
    body += number_rows(run.label, "whole network", run.findings.measures);
    for (const LayerFindings& layer : run.findings.layers) {
      body += number_rows(run.label, layer_words(layer), layer.measures);
    }
  }
  std::string head = heads({"Arm", "Layer", "Number", "Value", "Low", "High"}, 3);
  return table("numbers", "Every number with its 95\u00A0% interval and its controls",
               head + "<th scope=\"col\">Controls</th>", body);
}

std::string claims_table(std::span<const Claim> all) {
  if (all.empty()) return "";
  std::vector<std::string> others;
  for (const Claim& claim : all) {
    const bool known = std::find(others.begin(), others.end(), claim.other) != others.end();
    if (!claim.is_control && !known) others.push_back(claim.other);
  }
  std::string head = "<th scope=\"col\">Number</th>";
  head += fmt::format("<th scope=\"col\">{}</th>", text(all.front().subject));
  for (const std::string& other : others) {
    head += fmt::format("<th scope=\"col\">against {}</th>", text(other));
  }
  head += "<th scope=\"col\">against controls</th>";
  std::string body;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const Claim& claim) {
      return claim.metric != first->metric || claim.role != first->role;
    });
    body += claims_row({first, last}, others);
    first = last;
  }
  return table("claims",
               fmt::format("What the intervals allow to be said about the arm “{}”",
                           text(all.front().subject)),
               head, body);
}

std::string confusion_table(const LoadedRun& run) {
  const auto& counts = run.findings.confusion;
  if (counts.empty()) return "";
  const auto& categories = run.findings.categories;
  const auto name = [&](std::size_t k) {
    return categories.size() == counts.size() ? text(categories[k]) : fmt::format("class {}", k);
  };
  std::string head = "<td class=\"corner\"></td>";
  std::string body;
  for (std::size_t truth = 0; truth < counts.size(); ++truth) {
    head += fmt::format("<th scope=\"col\">{}</th>", name(truth));
    const auto total = std::accumulate(counts[truth].begin(), counts[truth].end(), int64_t{0});
    body += fmt::format("<tr><th scope=\"row\">{}</th>", name(truth));
    for (std::size_t guess = 0; guess < counts.size(); ++guess) {
      const double share =
          total == 0 ? 0.0 : static_cast<double>(counts[truth][guess]) / static_cast<double>(total);
      body += fmt::format("<td{} style=\"--share:{:.3f}\">{}</td>",
                          truth == guess ? " class=\"right\"" : "", share, counts[truth][guess]);
    }
    body += "</tr>\n";
  }
  return fmt::format(
      "<figure class=\"panel confusion\"><h4>{}</h4><div class=\"scroll\" tabindex=\"0\" "
      "role=\"region\" "
      "aria-label=\"Confusion of {}\"><table><caption>Rows: truth. Columns: answer.</caption>"
      "<thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div></figure>\n",
      text(run.label), text(run.label), head, body);
}

std::string key_value_table(const nlohmann::json& object, const std::string& caption) {
  std::string body;
  if (object.is_object()) {
    for (const auto& [key, value] : object.items()) {
      body += fmt::format("<tr><th scope=\"row\">{}</th><td><code>{}</code></td></tr>\n", text(key),
                          text(plain(value)));
    }
  }
  if (body.empty()) return "<p class=\"note\">Nothing was recorded.</p>\n";
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\"><table><caption>{0}</caption>"
      "<tbody>\n{1}</tbody></table></div>\n",
      text(caption), body);
}

}  // namespace partwise::report
