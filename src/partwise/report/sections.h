#pragma once

#include "partwise/report/verdict.h"
#include "partwise/runs/drawn_figures.h"
#include "partwise/runs/explained_photographs.h"

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
  runs::ExplainedPhotographs explained;
};

struct Section {
  std::string id;
  std::string title;
  std::string body;  // markup
};

// The page's sections, in order. `context` as in report.h.
std::vector<Section> sections(std::span<const LoadedRun> runs, const nlohmann::json& context);

// The one the report is about: of the known arm nearest to the full method.
const LoadedRun& leading_run(std::span<const LoadedRun> runs);

// The first screen: three explained photographs, or three filters drawn at random where there are
// none; three sentences; one chart.
std::string opening(std::span<const LoadedRun> runs);

// A field of the context: "" or nothing where it is missing; an Error where it has another type.
std::string context_text(const nlohmann::json& context, const std::string& key);
const nlohmann::json& context_object(const nlohmann::json& context, const std::string& key);

// Accuracy, part interpretability and purity of the runs that may be compared with the leading one,
// of layers in the role of its last one, each beside its hardest control; "" without any.
std::string headline_chart(std::span<const LoadedRun> runs);

// What a number means, what it is held against and what it cannot show, beside its chart with
// intervals and controls: of all layers, those of the same role together, or of all networks, and
// then once more without the controls, beside which differences between good networks are too small
// to see.
std::string metric_block(std::span<const LoadedRun> runs,
                         const NumberWords& metric,
                         bool of_layers);

// What the logs tell about training, one chart a quantity; "" without logs.
std::string training_charts(std::span<const LoadedRun> runs);

// Filters with the pictures they fire on, per run and layer: some drawn at random, then the best
// and the worst, fewer of each where there are many layers. Pictures must lie below their run's
// folder.
std::string gallery(std::span<const LoadedRun> runs);

// The first three cards of the run's last layer, those drawn at random before others; "" without
// any.
std::string three_cards(const LoadedRun& run);

// The paper's figures that were drawn of the runs: that of wrong decisions, or all others; ""
// without any.
std::string figures_html(std::span<const LoadedRun> runs, bool of_errors);

// Whether this number is one in any run or layer: on data without parts, some are defined nowhere.
bool is_defined(std::span<const LoadedRun> runs, const std::string& key);

// One row per network and layer, the numbers most people want.
std::string summary_table(std::span<const LoadedRun> runs);

// What may be said about each number, and what not.
std::string claims_table(std::span<const Claim> all);

// What was most often taken for what, and the counts of truth against prediction of each run where
// they fit on a page; "" where no run has them.
std::string confusions(std::span<const LoadedRun> runs);

// What flat JSON objects hold, key by key, a column each; equal values are said once.
std::string side_by_side(std::span<const std::string> labels,
                         std::span<const nlohmann::json> objects,
                         const std::string& caption);

}  // namespace partwise::report
