#pragma once

#include "partwise/experiments/machine.h"
#include "partwise/explaining/figures/drawn_run.h"
#include "partwise/runs/run_folder.h"

#include <filesystem>
#include <string>
#include <vector>

namespace partwise::experiments {

struct DrawRequest {
  std::string figure;
  std::vector<std::string> runs;
  std::string out;   // FILE.png, FILE.svg; a name without ending or a folder: both
  std::string data;  // another dataset than the first run's
  std::string checkpoint = "last";
  bool into_report = false;  // into the first run's folder, for its report
  explaining::FigureOptions options;
};

struct DrawnFiles {
  std::vector<std::filesystem::path> files;
  std::string details;  // what was chosen
  std::string caption;
};

// Draws one figure of runs. Whatever is wrong with the request is said before anything is computed.
// A run that does not know its parts yet learns them from its training images, where those are
// there.
DrawnFiles draw_figure(const DrawRequest& request, const Machine& machine);

// Every figure that these runs allow, into the folder of the interpretable one; what can't be drawn
// is said and passed over. A figure that is there stays while no run it shows has a newer
// checkpoint or newer names of parts: the dataset and the seed of a demo do not change. (To have
// them drawn anew by a newer program, delete the folder figures.)
void draw_figures_for_report(const std::vector<runs::RunFolder>& runs,
                             const std::filesystem::path& data,
                             int64_t seed,
                             const models::Resources& resources);

}  // namespace partwise::experiments
