#include "partwise/report/html.h"
#include "partwise/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace partwise::report {

namespace {

std::string attribute(const char* name, double value) {
  return std::isfinite(value) ? fmt::format(" {}=\"{:.6g}\"", name, value) : "";
}

std::string number_cell(double value, const std::string& words) {
  return fmt::format("<td class=\"number\"{}>{}</td>", attribute("data-value", value), words);
}

// The value with its interval in small print under it.
std::string measure_cell(const NumberWords& metric, const Finding* finding) {
  if (finding == nullptr || !std::isfinite(finding->value)) return "<td class=\"number\">–</td>";
  const std::string whole = shown(metric, *finding);
  const auto interval = whole.find('[');
  return number_cell(finding->value,
                     fmt::format("{} <span class=\"small\">{}</span>",
                                 shown(metric, finding->value), whole.substr(interval)));
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

std::string heads(const std::vector<std::string>& names, std::size_t text_columns) {
  std::string html;
  std::size_t column = 0;
  for (const auto& name : names) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column++ < text_columns ? "" : " class=\"number\"", name);
  }
  return html;
}

// "Purity&nbsp;↑", long words broken where the column is narrow.
std::string head_of(const NumberWords& number) {
  const std::string name = number.name;
  const auto at = std::min(name.find("ability"), name.size());
  const char* arrow = number.better == Better::higher  ? "&nbsp;↑"
                      : number.better == Better::lower ? "&nbsp;↓"
                                                       : "";
  return fmt::format("{}{}{}{}", name.substr(0, at),
                     name.find("interpret") != std::string::npos ? "&shy;" : "", name.substr(at),
                     arrow);
}

std::string layer_words(const LayerFindings& layer) {
  if (layer.role.empty()) return text(layer.layer);
  return fmt::format("{} <span class=\"small\">{}</span>", text(layer.layer), text(layer.role));
}

// A finding this program has no words for is still shown, under its own key.
NumberWords words_for(const std::string& key, const std::string& name) {
  if (const NumberWords* known = metrics::find_number(key)) return *known;
  return {key.c_str(), name.c_str(), Better::neither, false, "", "", "", ""};
}

std::string number_rows(const std::string& label, const std::string& layer, const Findings& found) {
  std::string html;
  for (const auto& [key, finding] : found) {
    const std::string name = control_name(key);
    const NumberWords words = words_for(key, name);
    std::string controls;
    for (const auto& [control, value] : finding.controls) {
      controls += fmt::format("{}{} {}", controls.empty() ? "" : "; ", text(control_name(control)),
                              shown(words, value));
    }
    for (const auto& [fact, value] : finding.facts.items()) {
      if (value.is_number())
        controls += fmt::format(" <span class=\"small\">{} {:.4g}</span>", text(control_name(fact)),
                                value.get<double>());
    }
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>{}{}{}<td>{}</td></tr>\n", text(label),
        layer, text(words.name), number_cell(finding.value, shown(words, finding.value)),
        number_cell(finding.low, shown(words, finding.low)),
        number_cell(finding.high, shown(words, finding.high)), controls.empty() ? "–" : controls);
  }
  return html;
}

// "+3.1 points [+1.2, +5.0]": the interval of one pair of runs.
std::string signed_difference(const Claim& claim) {
  const bool share = claim.metric->is_share;
  const auto part = [&](double value) {
    const double size = value * (share ? 100.0 : 1.0);
    return fmt::format("{}{}", size > 0 ? "+" : "", decimal(size, share ? 1 : 3));
  };
  if (!std::isfinite(claim.difference)) return "–";
  const bool of_one_pair = std::isfinite(claim.low) && std::isfinite(claim.high);
  return fmt::format(
      "{}{}{}", part(claim.difference), share ? " points" : "",
      of_one_pair ? fmt::format(" [{}, {}]", part(claim.low), part(claim.high)) : "");
}

std::string claim_words(const Claim& claim) {
  const std::string word = judgement(claim);
  return fmt::format("<span class=\"{}\">{}</span>",
                     word == "better" || word == "worse" ? word : "unclear", word);
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
                              attribute("data-sort", claim->difference), claim_words(*claim),
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
  std::vector<std::string> columns{"Arm", "Layer", "Accuracy&nbsp;↑"};
  for (const NumberWords& number : leading_numbers(false)) columns.push_back(head_of(number));
  std::string body;
  for (const LoadedRun& run : runs) {
    for (const LayerFindings& layer : run.findings.layers) {
      body += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", text(run.label),
                          layer_words(layer));
      body += measure_cell(*metrics::find_number("accuracy"),
                           find_finding(run.findings.findings, "accuracy"));
      for (const NumberWords& number : leading_numbers(false))
        body += measure_cell(number, find_finding(layer.findings, number.key));
      body += "</tr>\n";
    }
  }
  return table(
      "summary",
      "All arms at a glance; 95\u00A0% intervals below each value. Accuracy belongs to the whole "
      "network and repeats for its layers.",
      heads(columns, 2), body);
}

std::string numbers_table(std::span<const LoadedRun> runs) {
  std::string body;
  for (const LoadedRun& run : runs) {
    body += number_rows(run.label, "whole network", run.findings.findings);
    for (const LayerFindings& layer : run.findings.layers) {
      body += number_rows(run.label, layer_words(layer), layer.findings);
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
  std::vector<std::string> columns{"Number", text(all.front().subject)};
  for (const std::string& other : others) columns.push_back("against " + text(other));
  columns.emplace_back("against controls");
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
               heads(columns, columns.size()), body);
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
