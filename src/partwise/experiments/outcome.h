#pragma once

#include "partwise/experiments/grid.h"
#include "partwise/findings/run_findings.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::experiments {

struct FinishedCell {
  Cell cell;
  findings::RunFindings findings;
};

// nullptr where it was not measured.
const metrics::Finding* find_finding(const findings::RunFindings& findings, const Metric& metric);

// Our number beside the paper's. Over two seeds or more: their mean and Student's 95 % interval;
// for one seed: its own, over the images; the mean over categories has one only over seeds.
struct Line {
  std::string net;
  std::string arm;
  Column column;           // category empty: all of them, or their mean
  int64_t categories = 0;  // how many the mean is over; 0: no mean
  std::optional<double> paper;
  double value = 0.0;  // NaN: not defined
  double low = 0.0;
  double high = 0.0;
  int64_t seeds = 0;
  std::map<std::string, double> controls;  // means over seeds and categories
};

// One line per net, arm and column that has a finished cell, in the grid's order; then, of a binary
// table with several categories, the means. The paper's mean is taken over the same categories
// where it prints them.
std::vector<Line> compare_with_paper(const PaperTable& table, std::span<const FinishedCell> cells);

// The comparison for people and for programs. notes: what a reader must know besides.
std::string outcome_markdown(const PaperTable& table,
                             std::span<const Line> lines,
                             const std::vector<std::string>& notes);
nlohmann::json outcome_json(const PaperTable& table,
                            std::span<const Line> lines,
                            const std::vector<std::string>& notes);

}  // namespace partwise::experiments
