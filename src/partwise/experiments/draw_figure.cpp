#include "partwise/experiments/draw_figure.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/part_book.h"
#include "partwise/images/codec.h"
#include "partwise/models/examples.h"
#include "partwise/runs/drawn_figures.h"

#include <algorithm>
#include <set>

namespace partwise::experiments {

namespace fs = std::filesystem;

namespace {

constexpr double kPixelsPerUnit = 2.0;  // sharp in print and on fine screens
constexpr double kReportPixelsPerUnit = 1.25;

std::vector<fs::path> files_to_write(const std::string& out, const std::string& figure) {
  if (out.empty()) return {};
  const fs::path path(out);
  if (path.extension() == ".png" || path.extension() == ".svg") return {path};
  const bool folder = fs::is_directory(path) || !path.has_filename();
  ensure(folder || !path.has_extension(),
         "{}: a figure ends in .png or .svg; a name without an ending, or a folder, gets both",
         out);
  const fs::path stem = folder ? path / figure : path;
  return {fs::path(stem).concat(".png"), fs::path(stem).concat(".svg")};
}

std::string spoken(const explaining::Plate& plate) {
  const auto details = explaining::details_of(plate);
  return details.empty() ? plate.heading : plate.heading + ". " + details;
}

void record(const runs::RunFolder& run, const std::string& figure, const explaining::Plate& plate) {
  const auto sheet = explaining::compose(plate, explaining::PlateWords::labels);
  runs::record_figure(run, {figure, plate.heading, plate.caption, spoken(plate)},
                      images::encode_png(sheet.image(kReportPixelsPerUnit)));
}

}  // namespace

DrawnFiles draw_figure(const DrawRequest& request, const Machine& machine) {
  const auto& kind = explaining::figure_kind(request.figure);
  ensure(!request.runs.empty(), "draw {}: which run? partwise draw {} RUN… --out {}.png", kind.name,
         kind.name, kind.name);
  ensure(request.runs.size() <= kind.most_runs, "draw {}: {} runs are too many; {} fit on a page",
         kind.name, request.runs.size(), kind.most_runs);
  const auto files = files_to_write(request.out, kind.name);
  ensure(!files.empty() || request.into_report,
         "draw {}: say where to: --out FILE.png or FILE.svg, or --into-report", kind.name);
  for (const auto& file : files) make_writable_folder(fs::absolute(file).parent_path());
  const auto resources = start_session(machine);
  if (kind.needs != explaining::Needs::nothing) {
    const auto data = runs::RunFolder::open(request.runs.front()).data(request.data);
    ensure(fs::exists(data / "dataset.json"), "{}: no dataset is there (dataset.json is missing)",
           data.string());
    for (const auto& folder : request.runs)
      explaining::provide_part_book(runs::RunFolder::open(folder), request.data, resources,
                                    request.checkpoint);
  }
  const auto runs = explaining::open_drawn_runs(request.runs, request.data, request.checkpoint,
                                                request.options, kind.needs, resources);
  const auto plate = kind.draw(runs, request.options);
  const auto sheet = explaining::compose(plate);
  for (const auto& file : files) {
    write_file_atomically(file, file.extension() == ".svg"
                                    ? sheet.svg(plate.heading, spoken(plate))
                                    : images::encode_png(sheet.image(kPixelsPerUnit)));
  }
  if (request.into_report) record(runs.front().run, kind.name, plate);
  return {files, explaining::details_of(plate), plate.caption};
}

void draw_figures_for_report(const std::vector<runs::RunFolder>& runs,
                             const fs::path& data,
                             int64_t seed,
                             const models::Resources& resources) {
  using networks::Arm;
  explaining::FigureOptions options;
  options.seed = seed;
  std::set<Arm> needed{Arm::interpretable};
  for (const auto& kind : explaining::figure_kinds())
    if (kind.beside) needed.insert(*kind.beside);
  std::vector<std::string> folders;
  for (const auto& run : runs) {
    if (needed.count(models::design_of(run, data).arm) > 0) folders.push_back(run.path().string());
  }
  const auto opened = explaining::open_drawn_runs(folders, data, "last", options,
                                                  explaining::Needs::maps, resources);
  const auto of_arm = [&](Arm arm) {
    return std::find_if(opened.begin(), opened.end(), [&](const explaining::DrawnRun& run) {
      return run.model.design.arm == arm;
    });
  };
  const auto main = of_arm(Arm::interpretable);
  if (main == opened.end()) return;
  for (const auto& kind : explaining::figure_kinds()) {
    std::vector<explaining::DrawnRun> shown{*main};
    if (kind.beside) {
      const auto beside = of_arm(*kind.beside);
      if (beside != opened.end()) shown.push_back(*beside);
    }
    try {
      record(main->run, kind.name, kind.draw(shown, options));
    } catch (const Error& problem) {
      say(fmt::format("no figure {}: {}", kind.name, problem.what()));
    }
  }
}

}  // namespace partwise::experiments
