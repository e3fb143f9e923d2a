#include "partwise/report/exported_tables.h"

#include "partwise/metrics/catalogue.h"
#include "partwise/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace partwise::report {
namespace {

using findings::find_finding;
using findings::Finding;
using findings::NamedFindings;

struct Grid {
  struct Column {
    std::string run;
    std::string layer;
  };
  struct Line {
    std::string metric;  // its key
    std::vector<const Finding*> cells;
  };
  std::vector<Column> columns;
  std::vector<Line> lines;
};

std::vector<std::string> keys_in_order(std::span<const NamedFindings> runs) {
  std::vector<std::string> keys;
  const auto add = [&](const std::string& key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  };
  for (const auto& metric : metrics::catalogue()) {
    for (const auto& words : metric.numbers) add(words.key);
  }
  for (const auto& run : runs) {
    for (const auto& [key, finding] : run.findings.findings) add(key);
    for (const auto& layer : run.findings.layers) {
      for (const auto& [key, finding] : layer.findings) add(key);
    }
  }
  return keys;
}

Grid grid_of(std::span<const NamedFindings> runs) {
  Grid grid;
  for (const auto& run : runs) {
    for (const auto& layer : run.findings.layers) grid.columns.push_back({run.name, layer.layer});
  }
  for (const auto& key : keys_in_order(runs)) {
    Grid::Line line{key, {}};
    for (const auto& run : runs) {
      for (std::size_t i = 0; i < run.findings.layers.size(); ++i) {
        const auto* finding = find_finding(run.findings.layers[i].findings, key);
        if (finding == nullptr && i == 0) finding = find_finding(run.findings.findings, key);
        line.cells.push_back(finding);
      }
    }
    const bool measured = std::any_of(line.cells.begin(), line.cells.end(),
                                      [](const auto* cell) { return cell != nullptr; });
    if (measured) grid.lines.push_back(std::move(line));
  }
  return grid;
}

// What a reader must know.
std::string notes_on(std::span<const NamedFindings> runs) {
  std::string notes = "Values with 95 % intervals over images and filters";
  for (const auto& [name, run] : runs) {
    notes += fmt::format("; {}: {} images of split {}", name, run.rows, run.split);
    if (!run.training_images)
      notes += ", whether among them training images is not known";
    else if (*run.training_images > 0)
      notes += fmt::format(", {} of them training images", *run.training_images);
  }
  return notes + '.';
}

// Quoted where it must be; no text may begin a formula of a spreadsheet.
std::string csv_text(const std::string& text) {
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) < 6;
  const std::string safe = formula ? "'" + text : text;
  if (safe.find_first_of(",\"\n\r") == std::string::npos) return safe;
  std::string result = "\"";
  for (const char c : safe) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string markdown_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '\\') result += '\\';
    if (c == '<') {
      result += "&lt;";  // else it begins a tag
    } else {
      result += c == '\n' || c == '\r' ? ' ' : c;
    }
  }
  return result;
}

std::string latex_comment(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return "% " + text + '\n';
}

std::string latex_text(const std::string& text) {
  static const std::map<char, std::string> special{{'\\', "\\textbackslash{}"},
                                                   {'~', "\\textasciitilde{}"},
                                                   {'^', "\\textasciicircum{}"},
                                                   {'\n', " "},
                                                   {'_', "\\_"},
                                                   {'%', "\\%"},
                                                   {'&', "\\&"},
                                                   {'#', "\\#"},
                                                   {'$', "\\$"},
                                                   {'{', "\\{"},
                                                   {'}', "\\}"}};
  std::string result;
  for (const char c : text) {
    const auto found = special.find(c);
    result += found == special.end() ? std::string(1, c) : found->second;
  }
  return result;
}

}  // namespace

std::string findings_csv(std::span<const NamedFindings> runs) {
  std::string csv =
      "run,net,arm,task,split,images,training_images,layer,metric,kind,value,low,high\n";
  for (const auto& [name, run] : runs) {
    const auto start =
        fmt::format("{},{},{},{},{},{},{}", csv_text(name), csv_text(run.net), csv_text(run.arm),
                    csv_text(run.task), csv_text(run.split), run.rows,
                    run.training_images ? fmt::to_string(*run.training_images) : "");
    const auto add = [&](const std::string& layer, const findings::Findings& measured) {
      for (const auto& [key, finding] : measured) {
        const auto place = fmt::format("{},{},{}", start, csv_text(layer), csv_text(key));
        csv += fmt::format("{},measured,{},{},{}\n", place, csv_number(finding.value),
                           csv_number(finding.low), csv_number(finding.high));
        for (const auto& [control, value] : finding.controls)
          csv += fmt::format("{},{},{},,\n", place, csv_text(control), csv_number(value));
      }
    };
    add("", run.findings);
    for (const auto& layer : run.layers) add(layer.layer, layer.findings);
  }
  return csv;
}

std::string findings_markdown(std::span<const NamedFindings> runs) {
  const auto grid = grid_of(runs);
  std::string head = "| metric |";
  std::string rule = "|---|";
  for (const auto& column : grid.columns) {
    head += fmt::format(" {}, {} |", markdown_text(column.run), markdown_text(column.layer));
    rule += "---|";
  }
  std::string text = head + '\n' + rule + '\n';
  for (const auto& line : grid.lines) {
    text += fmt::format("| {} |", markdown_text(line.metric));
    for (const auto* cell : line.cells)
      text += cell == nullptr ? " |" : fmt::format(" {} |", plain_interval(*cell, "–"));
    text += '\n';
  }
  return text + '\n' + markdown_text(notes_on(runs)) + '\n';
}

std::string findings_latex(std::span<const NamedFindings> runs) {
  const auto grid = grid_of(runs);
  auto text = latex_comment(notes_on(runs));
  text +=
      fmt::format("\\begin{{tabular}}{{l{}}}\n\\hline\n", std::string(grid.columns.size(), 'c'));
  std::string names;
  std::string layers = "metric";
  for (const auto& column : grid.columns) {
    names += " & " + latex_text(column.run);
    layers += " & " + latex_text(column.layer);
  }
  text += names + " \\\\\n" + layers + " \\\\\n\\hline\n";
  for (const auto& line : grid.lines) {
    text += latex_text(line.metric);
    for (const auto* cell : line.cells)
      text += cell == nullptr ? " &" : fmt::format(" & {}", plain_interval(*cell, "--"));
    text += " \\\\\n";
  }
  return text + "\\hline\n\\end{tabular}\n";
}

}  // namespace partwise::report
