#pragma once

#include "partwise/metrics/adversarial_distortion.h"
#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/part_consistency.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/patch_purity.h"
#include "partwise/metrics/truth.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::metrics {

struct LayerOptions {
  std::vector<std::string> extras;  // of option_names()
  InstabilityOptions instability;
  InterpretabilityOptions interpretability;
  PatchPurityOptions patches;
  ConsistencyOptions consistency;
  BootstrapOptions bootstrap;
};

// One layer over the rows that show an object of the task.
struct LayerMaps {
  std::string name;
  UnitGrid grid;         // of maps
  UnitGrid masked_grid;  // of masked: another where the mask lies behind pooling
  MapSource maps;        // after ReLU, before the mask
  MapSource masked;      // the same where the layer has no mask
};

// What the layer is held against.
struct Exam {
  const Truth& truth;                        // of the rows of LayerMaps
  std::span<const int64_t> filter_category;  // [filters]
  std::optional<LabelledRows> judged;        // all judged rows, those without object too
  std::optional<LabelledRows> training;      // where thresholds may come from
  std::optional<MapSummaries> noisy;         // the rows of LayerMaps with noise in the input
  std::vector<RegionShape> fields = {};  // [filters]: receptive fields; where they were looked for
  std::vector<Point> evidence = {};      // [filters, rows]: where peaks come from; likewise
};

// All that a metric of a layer may look at.
struct LayerExam {
  const LayerMaps& layer;
  const Exam& exam;
  const LayerOptions& options;
  MapSummaries summaries;  // of layer.maps
};

// What measuring a layer leaves.
struct LayerMeasures {
  Findings findings;
  double dead_share = 0.0;
  double empty_share = 0.0;
  std::vector<FilterInterpretability> interpretability;  // [filters]
  std::vector<FilterInstability> instability;            // [filters]
  std::vector<FilterInterpretability> at_evidence;       // [filters]; where it was asked for
};

// A network's decisions over all judged rows.
struct NetworkExam {
  std::span<const float> scores;  // [rows, classes]: the highest is the decision
  int64_t classes = 0;
  std::span<const int64_t> labels;  // [rows]: classes
  // Where each output answers yes (a positive logit) or no on its own; else empty.
  std::span<const float> logits;      // [rows, outputs]
  std::span<const int64_t> category;  // [rows]: the output that should say yes; -1: none
  int64_t outputs = 0;
  // Where the network was attacked: the same images by both.
  std::vector<AttackedRow> by_lbfgs;
  std::vector<AttackedRow> by_carlini_wagner;
};

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
enum class Needs {
  decisions,
  yes_no_answers,
  attacks,
  maps,
  judged_rows,
  noisy_rows,
  fields,
  evidence
};

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

// "a,b" as a list, with `all` every option of a layer behind them but those that look into the
// network again, for minutes (receptive fields, evidence); a name that is not valid is an Error
// that lists those that are.
std::vector<std::string> options_named(const std::string& list, bool all, bool of_network);

bool wants(const std::vector<std::string>& extras, const std::string& option);

// The metrics that are always measured and those options.extras asks for; one for which the exam
// lacks something is left out. Without `training` the honest single-filter numbers do not exist.
LayerMeasures measure_layer(const LayerMaps& layer, const Exam& exam, const LayerOptions& options);
Findings measure_network(const NetworkExam& exam, const BootstrapOptions& bootstrap);

}  // namespace partwise::metrics
