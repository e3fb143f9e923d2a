#pragma once

#include "partwise/metrics/exam.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace partwise::metrics {

enum class Better { higher, lower, neither };

// What a number means, for someone who has not read the paper.
struct NumberWords {
  const char* key;  // in findings.json
  const char* name;
  Better better;
  bool is_share;  // shown in percent
  const char* axis;
  const char* meaning;   // two plain sentences
  const char* controls;  // what it is held against
  const char* cannot_show;
  int decimals = 3;
};

// Without it a metric is left out.
enum class Needs { decisions, yes_no_answers, attacks, maps, judged_rows, noisy_rows };

// Numbers that answer one question and are measured together: one row of the catalogue. The
// function stands in of_network for decisions, answers and attacks, in of_layer for the others.
struct Metric {
  std::string option;  // its name in --metrics; "": always measured
  bool leads;          // the terminal's table and the report's results; others follow
  Needs needs;
  const char* title;
  const char* question;
  std::vector<NumberWords> numbers;
  std::function<void(const LayerExam&, LayerMeasures&)> of_layer;
  std::function<void(const NetworkExam&, const BootstrapOptions&, Findings&)> of_network;

  [[nodiscard]] bool is_of_network() const { return of_network != nullptr; }
};

// Every metric, in the order in which the report shows them. Terminal, report, tables, compare and
// reproduce walk this list and know no key of their own but those the claims are about.
std::span<const Metric> catalogue();

// One more, behind the others: a metric of your own is its file and this row.
void add_metric(Metric metric);

// nullptr for a key nobody knows.
const NumberWords* find_number(const std::string& key);
const Metric* find_metric(const std::string& key);

// What --metrics can ask of a layer; of a network too.
std::vector<std::string> option_names(bool of_network);

// "a,b" as a list, with `all` every option of a layer behind them; a name that is not valid is an
// Error that lists those that are.
std::vector<std::string> options_named(const std::string& list, bool all, bool of_network);

bool wants(const std::vector<std::string>& extras, const std::string& option);

// The metrics that are always measured and those options.extras asks for; one for which the exam
// lacks something is left out. Without `training` the honest single-filter numbers do not exist.
LayerMeasures measure_layer(const LayerMaps& layer, const Exam& exam, const LayerOptions& options);
Findings measure_network(const NetworkExam& exam, const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
