#pragma once

#include "partwise/explaining/figures/drawn_run.h"
#include "partwise/explaining/figures/plate.h"
#include "partwise/networks/catalog.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::explaining {

using Draw = Plate (*)(std::span<const DrawnRun> runs, const FigureOptions& options);

// One figure of the paper: the only place where its name, its words and what it needs are written.
// Command line, report, documents and tests walk this list.
struct FigureKind {
  const char* name;
  const char* shows;
  const char* in_paper;  // what the paper's figure shows
  std::size_t most_runs;
  std::optional<networks::Arm> beside;  // shown beside the interpretable one in a report
  Needs needs;
  Draw draw;
  bool takes_image = true;  // --image chooses what it shows
};

std::span<const FigureKind> figure_kinds();
// An Error lists the figures.
const FigureKind& figure_kind(const std::string& name);

// Each in a file of its name.
Plate draw_templates(std::span<const DrawnRun> runs, const FigureOptions& options);
Plate draw_mask(std::span<const DrawnRun> runs, const FigureOptions& options);
Plate draw_filters(std::span<const DrawnRun> runs, const FigureOptions& options);
Plate draw_activations(std::span<const DrawnRun> runs, const FigureOptions& options);
Plate draw_places(std::span<const DrawnRun> runs, const FigureOptions& options);
Plate draw_gradcam(std::span<const DrawnRun> runs, const FigureOptions& options);

Plate draw_contributions(std::span<const DrawnRun> runs, const FigureOptions& options);
Plate draw_errors(std::span<const DrawnRun> runs, const FigureOptions& options);

}  // namespace partwise::explaining
