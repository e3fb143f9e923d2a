#include "partwise/report/html.h"
#include "partwise/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace partwise::report {

namespace {

// The value with its interval in small print under it.
std::string measure_cell(const NumberWords& metric, const Finding* finding) {
  if (finding == nullptr || !std::isfinite(finding->value)) return "<td class=\"number\">–</td>";
  const std::string whole = shown(metric, *finding);
  const auto interval = whole.find('[');
  return fmt::format("<td class=\"number\">{} <span class=\"small\">{}</span></td>",
                     shown(metric, finding->value), whole.substr(interval));
}

// The words of a caption, for those who hear that a wide table can be scrolled.
std::string scrolled(const std::string& label, const std::string& table) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">{}</div>\n", label,
      table);
}

std::string table(const std::string& caption, const std::string& head, const std::string& body) {
  return scrolled(caption, fmt::format("<table><caption>{}</caption>\n<thead><tr>{}</tr></thead>"
                                       "<tbody>\n{}</tbody></table>",
                                       caption, head, body));
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

// Claims about one number of one layer, one column per arm and one for all controls.
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
                : fmt::format("<td>{} {} <span class=\"small keep\">{}</span></td>",
                              claim_words(*claim), shown_difference(*claim), claim->other_value);
  }
  std::string controls;
  for (const Claim& claim : claims) {
    if (!claim.is_control) continue;
    controls += fmt::format(" <span class=\"small\">{} {}: {}</span>", text(claim.other),
                            claim.other_value, claim_words(claim));
  }
  return html + fmt::format("<td>{}</td></tr>\n", controls.empty() ? "–" : controls);
}

constexpr std::size_t kLargestMatrix = 20;  // classes
constexpr std::size_t kPairsListed = 8;

std::string class_name(const LoadedRun& run, std::size_t k) {
  const auto& names = run.findings.classes.size() == run.findings.confusion.size()
                          ? run.findings.classes
                          : run.findings.categories;
  return names.size() == run.findings.confusion.size() ? text(names[k])
                                                       : fmt::format("class {}", k);
}

int64_t total_of(const std::vector<int64_t>& row) {
  return std::accumulate(row.begin(), row.end(), int64_t{0});
}

double share_of(int64_t count, int64_t total) {
  return total == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(total);
}

// The pairs the leading run confuses most, beside the other runs that can decide for the same.
std::string frequent_confusions(std::span<const LoadedRun> runs) {
  const LoadedRun& leading = leading_run(runs);
  const auto& counts = leading.findings.confusion;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t truth = 0; truth < counts.size(); ++truth) {
    for (std::size_t guess = 0; guess < counts.size(); ++guess)
      if (truth != guess && counts[truth][guess] > 0) pairs.emplace_back(truth, guess);
  }
  if (pairs.empty()) return "";
  std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
    return counts[a.first][a.second] > counts[b.first][b.second];
  });
  std::vector<const LoadedRun*> shown;
  std::vector<std::string> columns{"Is", "Taken for"};
  for (const LoadedRun& run : runs) {
    if (run.findings.classes != leading.findings.classes ||
        run.findings.confusion.size() != counts.size())
      continue;
    shown.push_back(&run);
    columns.push_back(text(run.label));
  }
  std::string body;
  for (std::size_t k = 0; k < std::min(pairs.size(), kPairsListed); ++k) {
    const auto [truth, guess] = pairs[k];
    body += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", class_name(leading, truth),
                        class_name(leading, guess));
    for (const LoadedRun* run : shown) {
      const auto& row = run->findings.confusion[truth];
      body += fmt::format("<td class=\"number\">{} of {}</td>", row[guess], total_of(row));
    }
    body += "</tr>\n";
  }
  return table(
      fmt::format("What {} most often takes for something else, in images", text(leading.label)),
      heads(columns, 2), body);
}

std::string confusion_matrix(const LoadedRun& run) {
  const auto& counts = run.findings.confusion;
  if (counts.empty()) return "";
  std::string head = "<td class=\"corner\"></td>";
  std::string body;
  for (std::size_t truth = 0; truth < counts.size(); ++truth) {
    head += fmt::format("<th scope=\"col\">{}</th>", class_name(run, truth));
    body += fmt::format("<tr><th scope=\"row\">{}</th>", class_name(run, truth));
    for (std::size_t guess = 0; guess < counts.size(); ++guess) {
      body += fmt::format(
          "<td{} style=\"--share:{:.3f}\">{}</td>", truth == guess ? " class=\"right\"" : "",
          share_of(counts[truth][guess], total_of(counts[truth])), counts[truth][guess]);
    }
    body += "</tr>\n";
  }
  return "<div class=\"panel confusion\">" + table("Confusion of " + text(run.label), head, body) +
         "</div>\n";
}

}  // namespace

std::string summary_table(std::span<const LoadedRun> runs) {
  std::vector<std::string> columns{"Arm", "Layer", "Accuracy&nbsp;↑"};
  auto numbers = leading_numbers(false);
  std::erase_if(numbers, [&](const NumberWords& number) { return !is_defined(runs, number.key); });
  for (const NumberWords& number : numbers) columns.push_back(head_of(number));
  std::string body;
  for (const LoadedRun& run : runs) {
    for (const LayerFindings& layer : run.findings.layers) {
      body += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", text(run.label),
                          layer_words(layer));
      body += measure_cell(*metrics::find_number("accuracy"),
                           find_finding(run.findings.findings, "accuracy"));
      for (const NumberWords& number : numbers)
        body += measure_cell(number, find_finding(layer.findings, number.key));
      body += "</tr>\n";
    }
  }
  return table(
      "All arms at a glance; 95\u00A0% intervals below each value. Accuracy belongs to the whole "
      "network and repeats for its layers.",
      heads(columns, 2), body);
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
    const bool defined = std::any_of(first, last, [](const Claim& claim) {
      return claim.subject_value != "–" || (!claim.is_control && claim.other_value != "–");
    });
    if (defined) body += claims_row({first, last}, others);
    first = last;
  }
  return table(fmt::format("What the intervals allow to be said about the arm “{}”",
                           text(all.front().subject)),
               heads(columns, columns.size()), body);
}

std::string confusions(std::span<const LoadedRun> runs) {
  std::string matrices;
  for (const LoadedRun& run : runs)
    if (run.findings.confusion.size() <= kLargestMatrix) matrices += confusion_matrix(run);
  std::string html = frequent_confusions(runs);
  if (!matrices.empty())
    html += fmt::format(
        "<details><summary>All counts</summary><p class=\"note\">Rows: truth. Columns: answer. "
        "Shading is the share of the row.</p><div class=\"grid2\">\n{}</div></details>\n",
        matrices);
  return html;
}

std::string side_by_side(std::span<const std::string> labels,
                         std::span<const nlohmann::json> objects,
                         const std::string& caption) {
  std::map<std::string, std::vector<std::string>> rows;
  for (std::size_t k = 0; k < objects.size(); ++k) {
    if (!objects[k].is_object()) continue;
    for (const auto& [key, value] : objects[k].items()) {
      auto& row = rows[key];
      row.resize(objects.size(), "–");
      row[k] = plain(value);
    }
  }
  if (rows.empty()) return "";
  std::string head = "<td></td>";
  for (const auto& label : labels) head += fmt::format("<th scope=\"col\">{}</th>", text(label));
  std::string different;
  std::string equal;
  for (const auto& [key, values] : rows) {
    const bool same = std::all_of(values.begin(), values.end(), [&](const std::string& value) {
      return value == values.front();
    });
    std::string& body = same ? equal : different;
    body += fmt::format("<tr><th scope=\"row\">{}</th>", text(key));
    if (same) {
      body += fmt::format("<td colspan=\"{}\"><code>{}</code></td>", values.size(),
                          text(values.front()));
    } else {
      for (const auto& value : values) body += fmt::format("<td><code>{}</code></td>", text(value));
    }
    body += "</tr>\n";
  }
  return table(text(caption), head, different + equal);
}

}  // namespace partwise::report
