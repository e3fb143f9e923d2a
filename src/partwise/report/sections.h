#pragma once

#include "partwise/report/verdict.h"
#include "partwise/runs/drawn_figures.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace partwise::report {

// Everything the page says about one run, read once and checked.
struct LoadedRun {
  std::string label;   // the arm, with the folder's name where two runs share an arm
  int64_t style = 0;   // of its markers
  std::string folder;  // its path
  RunFindings findings;
  nlohmann::json options;
  nlohmann::json manifest;
  std::vector<nlohmann::json> log;
  std::vector<runs::DrawnFigure> figures;  // `partwise draw … --into-report`
};

struct Section {
  std::string id;
  std::string title;
  std::string body;  // markup
};

// The page's sections, in order. `context` as in report.h.
std::vector<Section> sections(std::span<const LoadedRun> runs, const nlohmann::json& context);

// A field of the context: "" or nothing where it is missing; an Error where it has another type.
std::string context_text(const nlohmann::json& context, const std::string& key);
const nlohmann::json& context_object(const nlohmann::json& context, const std::string& key);

// What a number means, what it is held against and what it cannot show, beside its chart with
// intervals and controls: of all layers, those of the same role together, or of all networks, and
// then once more without the controls, beside which differences between good networks are too small
// to see.
std::string metric_block(std::span<const LoadedRun> runs,
                         const NumberWords& metric,
                         bool of_layers);

// What the logs tell about training, one chart a quantity; "" without logs.
std::string training_charts(std::span<const LoadedRun> runs);

// Filters with the pictures they fire on, per run and layer: the best, some drawn at random and the
// worst, each under its own heading where the findings say how a filter was chosen. Pictures must
// lie below their run's folder.
std::string gallery(std::span<const LoadedRun> runs);

// The paper's figures that were drawn of the runs; "" without any.
std::string figures_section(std::span<const LoadedRun> runs);

// One row per network and layer, the numbers most people want.
std::string summary_table(std::span<const LoadedRun> runs);

// Every measured number with its interval and all its controls.
std::string numbers_table(std::span<const LoadedRun> runs);

// What may be said about each number, and what not.
std::string claims_table(std::span<const Claim> all);

// Counts of truth against prediction; "" for a run without them.
std::string confusion_table(const LoadedRun& run);

// A flat JSON object, key by key.
std::string key_value_table(const nlohmann::json& object, const std::string& caption);

}  // namespace partwise::report
