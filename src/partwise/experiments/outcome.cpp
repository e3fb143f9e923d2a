#include "partwise/experiments/outcome.h"

#include "partwise/metrics/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace partwise::experiments {
namespace {

using nlohmann::json;

// One metric of one cell.
struct Measured {
  const Cell* cell = nullptr;
  metrics::Finding finding;
};

std::vector<Measured> measured_cells(const Metric& metric, std::span<const FinishedCell> cells) {
  std::vector<Measured> found;
  for (const auto& finished : cells) {
    if (const auto* finding = find_finding(finished.findings, metric))
      found.push_back({&finished.cell, *finding});
  }
  return found;
}

bool same_line(const Cell& a, const Cell& b, bool any_category) {
  return a.net == b.net && a.arm == b.arm && a.loss == b.loss &&
         (any_category || a.category == b.category);
}

// Means over the categories, seed by seed, of the cells of one line.
std::map<int64_t, double> values_by_seed(const std::vector<const Measured*>& of_line) {
  std::map<int64_t, metrics::ExistingMean> means;
  for (const auto* one : of_line) means[one->cell->seed].add(one->finding.value);
  std::map<int64_t, double> values;
  for (const auto& [seed, mean] : means) values[seed] = mean.value();
  return values;
}

// Only seeds that finished every category of the line are comparable with each other.
std::vector<const Measured*> complete_seeds(const std::vector<const Measured*>& of_line) {
  std::map<int64_t, std::size_t> count;
  for (const auto* one : of_line) ++count[one->cell->seed];
  std::size_t most = 0;
  for (const auto& [seed, cells] : count) most = std::max(most, cells);
  std::vector<const Measured*> kept;
  std::copy_if(of_line.begin(), of_line.end(), std::back_inserter(kept),
               [&](const auto* one) { return count[one->cell->seed] == most; });
  return kept;
}

Line line_of(const std::vector<const Measured*>& of_line, const Column& column) {
  const auto& cell = *of_line.front()->cell;
  Line line{cell.net, cell.arm, column, 0, {}, 0.0, metrics::kNaN, metrics::kNaN, 0, {}};
  std::vector<double> values;
  for (const auto& [seed, value] : values_by_seed(of_line)) values.push_back(value);
  const auto mean = metrics::mean_over_seeds(values);
  line.value = mean.mean;
  line.seeds = std::ssize(values);
  if (values.size() >= 2) {
    line.low = mean.low;
    line.high = mean.high;
  } else if (of_line.size() == 1) {
    line.low = of_line.front()->finding.low;
    line.high = of_line.front()->finding.high;
  }
  std::map<std::string, metrics::ExistingMean> controls;
  for (const auto* one : of_line) {
    for (const auto& [name, value] : one->finding.controls) controls[name].add(value);
  }
  for (const auto& [name, control] : controls) line.controls[name] = control.value();
  return line;
}

// The paper's mean over these categories; what it prints as the mean where it has nothing else.
std::optional<double> paper_mean(const PaperTable& table,
                                 const Line& line,
                                 const std::set<std::string>& categories) {
  metrics::ExistingMean mean;
  for (const auto& category : categories) {
    const auto figure =
        figure_of(table, line.net, line.arm, {line.column.loss, category, line.column.metric});
    if (!figure) return figure_of(table, line.net, line.arm, line.column);
    mean.add(*figure);
  }
  return mean.value();
}

std::string number(double value) {
  if (!std::isfinite(value)) return "–";
  return std::abs(value) < 0.01 && value != 0.0 ? fmt::format("{:.5f}", value)
                                                : fmt::format("{:.3f}", value);
}

std::string interval(const Line& line) {
  if (!std::isfinite(line.low) || !std::isfinite(line.high)) return "–";
  return fmt::format("{} to {}", number(line.low), number(line.high));
}

json number_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

std::string category_text(const Line& line) {
  if (!line.column.category.empty()) return line.column.category;
  return line.categories == 0 ? "all" : fmt::format("mean of {}", line.categories);
}

}  // namespace

const metrics::Finding* find_finding(const findings::RunFindings& run, const Metric& metric) {
  if (metric.place == Metric::Place::network)
    return findings::find_finding(run.findings, metric.key);
  if (run.layers.empty()) return nullptr;
  const auto& layer =
      metric.place == Metric::Place::first_layer ? run.layers.front() : run.layers.back();
  return findings::find_finding(layer.findings, metric.key);
}

std::vector<Line> compare_with_paper(const PaperTable& table, std::span<const FinishedCell> cells) {
  std::vector<Line> lines;
  std::vector<Line> means;
  for (const auto& metric : table.metrics) {
    const auto measured = measured_cells(metric, cells);
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const auto& cell = *measured[i].cell;
      const auto alike = [&](bool any_category) {
        std::vector<const Measured*> found;
        for (const auto& other : measured) {
          if (same_line(*other.cell, cell, any_category)) found.push_back(&other);
        }
        return found;
      };
      const auto of_line = alike(false);
      if (of_line.front() == &measured[i]) {
        auto line = line_of(of_line, {cell.loss, cell.category, metric.key});
        line.paper = figure_of(table, line.net, line.arm, line.column);
        lines.push_back(std::move(line));
      }
      const auto of_mean = complete_seeds(alike(true));
      std::set<std::string> categories;
      for (const auto* one : of_mean) categories.insert(one->cell->category);
      if (categories.size() < 2 || alike(true).front() != &measured[i]) continue;
      auto mean = line_of(of_mean, {cell.loss, "", metric.key});
      mean.categories = std::ssize(categories);
      mean.paper = paper_mean(table, mean, categories);
      means.push_back(std::move(mean));
    }
  }
  lines.insert(lines.end(), means.begin(), means.end());
  return lines;
}

std::string outcome_markdown(const PaperTable& table,
                             std::span<const Line> lines,
                             const std::vector<std::string>& notes) {
  std::set<std::string> controls;
  for (const auto& line : lines) {
    for (const auto& [name, value] : line.controls) controls.insert(name);
  }
  std::string text = fmt::format("# {}: {}\n\n", table.name, table.what);
  text += "| net | arm | loss | category | metric | paper | ours | 95 % | seeds |";
  for (const auto& name : controls) text += fmt::format(" {} |", name);
  text += "\n|---|---|---|---|---|---|---|---|---|";
  for (std::size_t i = 0; i < controls.size(); ++i) text += "---|";
  text += '\n';
  for (const auto& line : lines) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |", line.net, line.arm,
                        line.column.loss, category_text(line), line.column.metric,
                        number(line.paper.value_or(metrics::kNaN)), number(line.value),
                        interval(line), line.seeds);
    for (const auto& name : controls) {
      const auto found = line.controls.find(name);
      text += fmt::format(" {} |", found == line.controls.end() ? "" : number(found->second));
    }
    text += '\n';
  }
  text +=
      "\nIntervals: over seeds (Student's t) where there are two or more, else over images "
      "(bootstrap). The columns behind \"seeds\" are controls.\n";
  if (!table.note.empty()) text += table.note + "\n";
  for (const auto& note : notes) text += note + "\n";
  return text;
}

json outcome_json(const PaperTable& table,
                  std::span<const Line> lines,
                  const std::vector<std::string>& notes) {
  auto rows = json::array();
  for (const auto& line : lines) {
    auto controls = json::object();
    for (const auto& [name, value] : line.controls) controls[name] = number_or_null(value);
    rows.push_back({{"net", line.net},
                    {"arm", line.arm},
                    {"loss", line.column.loss},
                    {"category", line.column.category},
                    {"mean_of", line.categories},
                    {"metric", line.column.metric},
                    {"paper", line.paper ? json(*line.paper) : json(nullptr)},
                    {"value", number_or_null(line.value)},
                    {"low", number_or_null(line.low)},
                    {"high", number_or_null(line.high)},
                    {"seeds", line.seeds},
                    {"controls", controls}});
  }
  auto remarks = notes;
  if (!table.note.empty()) remarks.insert(remarks.begin(), table.note);
  return {{"table", table.name}, {"what", table.what}, {"rows", rows}, {"notes", remarks}};
}

}  // namespace partwise::experiments
