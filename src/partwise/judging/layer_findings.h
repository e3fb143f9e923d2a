#pragma once

#include "partwise/metrics/bootstrap.h"
#include "partwise/metrics/finding.h"
#include "partwise/metrics/location_instability.h"
#include "partwise/metrics/map_summaries.h"
#include "partwise/metrics/part_consistency.h"
#include "partwise/metrics/part_interpretability.h"
#include "partwise/metrics/patch_purity.h"
#include "partwise/metrics/truth.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::judging {

struct LayerOptions {
  std::vector<std::string> extras;  // of extra_metric_names()
  metrics::InstabilityOptions instability;
  metrics::InterpretabilityOptions interpretability;
  metrics::PatchPurityOptions patches;
  metrics::ConsistencyOptions consistency;
  metrics::BootstrapOptions bootstrap;
};

// One layer over the rows that show an object of the task.
struct LayerMaps {
  std::string name;
  metrics::UnitGrid grid;         // of maps
  metrics::UnitGrid masked_grid;  // of masked: another where the mask lies behind pooling
  metrics::MapSource maps;        // after ReLU, before the mask
  metrics::MapSource masked;      // the same where the layer has no mask
};

// Summaries of some rows, and what the rows show: index into the task's categories, -1: nothing the
// network knows.
struct LabelledRows {
  metrics::MapSummaries summaries;
  std::vector<int64_t> category;  // [rows]
};

// What the layer is held against.
struct Exam {
  const metrics::Truth& truth;                 // of the rows of LayerMaps
  std::span<const int64_t> filter_category;    // [filters]
  std::optional<LabelledRows> judged;          // all judged rows, those without object too
  std::optional<LabelledRows> training;        // where thresholds may come from
  std::optional<metrics::MapSummaries> noisy;  // the rows of LayerMaps with noise in the input
};

struct LayerFindings {
  std::map<std::string, metrics::Finding> findings;  // by their keys in findings.json
  nlohmann::json facts;  // the layer's other keys; for a finding's key, its further members
  metrics::LocationInstability instability;
  metrics::PartInterpretability interpretability;
};

// Purity, location instability, part interpretability and what options.extras asks for. An extra
// for which the exam lacks something is left out: single_filter and activation_magnitude need
// `judged`, part_stability `noisy`. Without `training` the honest single-filter numbers do not
// exist.
LayerFindings layer_findings(const LayerMaps& layer, const Exam& exam, const LayerOptions& options);

// A layer as docs/findings.md describes it, without cards.
nlohmann::json to_json(const LayerFindings& findings);

}  // namespace partwise::judging
