#pragma once

#include "partwise/metrics/adversarial_distortion.h"
#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/part_consistency.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/patch_purity.h"
#include "partwise/metrics/truth.h"

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

// Summaries of some rows, and what the rows show: index into the task's categories, -1: nothing the
// network knows.
struct LabelledRows {
  MapSummaries summaries;
  std::vector<int64_t> category;  // [rows]
};

// What the layer is held against.
struct Exam {
  const Truth& truth;                        // of the rows of LayerMaps
  std::span<const int64_t> filter_category;  // [filters]
  std::optional<LabelledRows> judged;        // all judged rows, those without object too
  std::optional<LabelledRows> training;      // where thresholds may come from
  std::optional<MapSummaries> noisy;         // the rows of LayerMaps with noise in the input
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
  double silent_share = 0.0;
  std::vector<FilterInterpretability> interpretability;  // [filters]
  std::vector<FilterInstability> instability;            // [filters]
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

}  // namespace partwise::metrics
