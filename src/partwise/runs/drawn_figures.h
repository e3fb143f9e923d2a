#pragma once

#include "partwise/runs/run_folder.h"
#include "partwise/runs/training_moment.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::runs {

// A figure in a run's folder, for its report: figures/NAME.png, its words in figures/figures.json.
struct DrawnFigure {
  std::string name;  // "filters": one of each
  std::string title;
  std::string caption;
  std::string alt;                            // what a reader hears who cannot see it
  std::optional<TrainingMoment> moment = {};  // of the run's network; nothing: not known

  std::filesystem::path file_in(const std::filesystem::path& run) const;
};

// Letters, digits, hyphens and underscores: a name that cannot lead out of its folder.
bool is_plain_name(const std::string& name);

// In the order they were first recorded; an Error where figures.json is damaged.
std::vector<DrawnFigure> drawn_figures(const RunFolder& run);
// Whether a figure of this name was drawn and none of the files it was made of has changed since; a
// file that is not there has not.
bool is_drawn_since(const RunFolder& run,
                    const std::string& name,
                    std::span<const std::filesystem::path> made_of);
// Writes the picture and its words, in place of an older one of this name.
void record_figure(const RunFolder& run, const DrawnFigure& figure, std::string_view png);

}  // namespace partwise::runs
