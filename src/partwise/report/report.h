#pragma once

#include "partwise/runs/run_folder.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace partwise::report {

// One HTML page about measured runs that needs nothing but itself: pictures and style are inside,
// nothing is fetched and nothing runs. It opens with three explained photographs where they lie in
// a run's folder (runs/explained_photographs.h). The same runs and context give
// the same bytes. Every run must hold findings.json (`partwise measure RUN`); an Error names the
// run and what is wrong with it.
//   context, all optional: {"title": …, "command": …, "seconds": …, "seed": …,
//     "start": a sentence on what the networks were before training,
//     "outdated": [a sentence on a run whose network has gone on since it was measured],
//     "dataset": {"name": …, "images": …, "sheet": path of a PNG}}
std::string render_report(const std::vector<runs::RunFolder>& folders,
                          const nlohmann::json& context);

// The page as a file, all or nothing. A relative dataset.sheet is looked for beside the page first,
// then from the working directory.
void write_report(const std::vector<runs::RunFolder>& folders,
                  const nlohmann::json& context,
                  const std::filesystem::path& html);

}  // namespace partwise::report
