#include "partwise/report/terminal.h"

#include "partwise/base/printable.h"
#include "partwise/metrics/catalogue.h"
#include "partwise/report/html.h"
#include "partwise/report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <vector>

namespace partwise::report {
namespace {

using findings::find_finding;
using findings::Finding;
using findings::Findings;

std::string number(double value) {
  return plain_number(value, "-");
}

std::string cell(const Findings& found, const char* key) {
  const auto* finding = find_finding(found, key);
  return finding == nullptr ? "-" : plain_interval(*finding, "-");
}

// Without its interval.
std::string value_of(const Findings& found, const char* key, int decimals) {
  const auto* finding = find_finding(found, key);
  if (finding == nullptr || !std::isfinite(finding->value)) return "-";
  return fmt::format("{:.{}f}", finding->value, decimals);
}

double fact(const Finding& finding, const char* key) {
  const auto entry = finding.facts.find(key);
  return entry != finding.facts.end() && entry->is_number() ? entry->get<double>() : NAN;
}

// What a finding has besides its number and controls, where people want to read it.
std::string further(const Finding& finding) {
  if (finding.facts.contains("count"))
    return fmt::format("; {:.0f} detectors, {:.0f} unique ({:.0f} by chance)",
                       fact(finding, "count"), fact(finding, "unique"),
                       fact(finding, "chance_unique"));
  if (finding.facts.contains("unserved"))
    return fmt::format("; {} has the fewest", printable(finding.facts.value("category", "one")));
  if (finding.facts.contains("success_share"))
    return fmt::format(
        "; {} of {:.0f} images attacked with success, {} of those flip at random too",
        number(fact(finding, "success_share")), fact(finding, "images"),
        number(fact(finding, "random_flips")));
  return "";
}

// Which part the filters of each category stand for: "fox: head 0.40, torso 0.60".
std::string share_lines(const Finding& finding) {
  std::string lines;
  for (const auto& [category, parts] : findings::part_shares(finding)) {
    std::string shares;
    for (const auto& [part, share] : parts)
      shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", part, number(share));
    lines += fmt::format("    filters of {}: {}\n", printable(category), one_line(shares));
  }
  return lines;
}

std::size_t letters(const std::string& text) {  // of UTF-8
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0U) != 0x80U; }));
}

bool have_names(std::span<const findings::NamedFindings> runs) {
  return runs.size() > 1 && std::any_of(runs.begin(), runs.end(), [](const auto& run) {
           return run.name != run.findings.arm;
         });
}

bool leads(const std::string& key) {
  const auto* metric = metrics::find_metric(key);
  return metric != nullptr && metric->leads;
}

}  // namespace

std::string aligned(const Rows& rows) {
  auto shown = rows;
  std::vector<std::size_t> widths;
  for (auto& row : shown) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = one_line(row[i]);
      widths[i] = std::max(widths[i], letters(row[i]));
    }
  }
  std::string text;
  for (const auto& row : shown) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text += std::string(widths[i] - letters(row[i]) + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string findings_table(std::span<const findings::NamedFindings> runs) {
  const bool named = have_names(runs);
  Rows rows{{"layer", "accuracy", "purity", "part interpretability", "instability D",
             "D / D_shuffle", "silent", "effective"}};
  if (named) rows[0].insert(rows[0].begin(), "run");
  rows[0].insert(rows[0].begin() + (named ? 1 : 0), "arm");
  for (const auto& [name, run] : runs) {
    for (const auto& layer : run.layers) {
      const auto of_layer = [&](const char* key) { return cell(layer.findings, key); };
      auto& row = rows.emplace_back();
      if (named) row.push_back(name);
      row.insert(row.end(),
                 {run.arm, layer.layer, cell(run.findings, "accuracy"), of_layer("purity"),
                  of_layer("part_interpretability"), of_layer("location_instability"),
                  of_layer("instability_ratio"), value_of(layer.findings, "silent_share", 3),
                  value_of(layer.findings, "effective_filters", 1)});
    }
  }
  return aligned(rows);
}

std::string finding_lines(const Findings& found, bool all) {
  Rows rows;
  std::vector<std::string> below;  // a row's further lines
  for (const auto& [key, finding] : found) {
    if (!all && leads(key)) continue;
    std::string controls;
    for (const auto& [name, value] : finding.controls)
      controls += fmt::format("{}{} {}", controls.empty() ? "" : ", ", name, number(value));
    rows.push_back({"  " + key, plain_interval(finding, "-"), controls + further(finding)});
    below.push_back(share_lines(finding));
  }
  std::istringstream lines(aligned(rows));
  std::string text;
  for (const auto& more : below) {
    std::string line;
    std::getline(lines, line);
    text += line + '\n' + more;
  }
  return text;
}

std::string further_lines(std::span<const findings::NamedFindings> runs) {
  const bool named = have_names(runs);
  std::string text;
  for (const auto& [name, run] : runs) {
    const auto& called = named ? name : run.arm;
    const auto add = [&](const std::string& of, const Findings& found) {
      const auto lines = finding_lines(found, false);
      if (!lines.empty())
        text += fmt::format("\n{}, {}\n{}", one_line(called), one_line(of), lines);
    };
    add("whole network", run.findings);
    for (const auto& layer : run.layers) add(layer.layer, layer.findings);
  }
  return text;
}

std::string warning_lines(std::span<const findings::NamedFindings> runs) {
  const bool named = have_names(runs);
  std::string lines;
  for (const auto& [name, run] : runs) {
    for (const auto& layer : run.layers) {
      for (const auto& warning : silence_warnings(run, layer))
        lines += fmt::format("warning: {}\n", one_line((named ? name + ": " : "") + warning));
    }
  }
  return lines.empty() ? "" : "\n" + lines;
}

std::string comparison_table(std::span<const findings::ComparedNumber> numbers) {
  const auto plain = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.3f}", value) : "-";
  };
  const auto change = [](double value) {
    return std::isfinite(value) ? fmt::format("{:+.3f}", value) : "-";
  };
  Rows rows{{"layer", "metric", "first", "second", "change", "95 % interval", "the second is"}};
  for (const auto& [role, key, first, second, comparison] : numbers) {
    rows.push_back({role.empty() ? "whole network" : role, key, plain(first), plain(second),
                    change(comparison.difference),
                    fmt::format("[{}, {}]", change(comparison.low), change(comparison.high)),
                    words_for(relation(comparison))});
  }
  const auto lines = static_cast<double>(numbers.size());
  return aligned(rows) + fmt::format(
                             "\nOne interval per line: of {} lines about {:.0f} leave out 0 by "
                             "chance alone.\n",
                             numbers.size(), std::ceil(0.05 * lines));
}

}  // namespace partwise::report
