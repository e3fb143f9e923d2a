#include "partwise/experiments/draw_figure.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/explaining/figures/figure_kinds.h"
#include "partwise/explaining/part_book.h"
#include "partwise/images/codec.h"
#include "partwise/models/examples.h"
#include "partwise/models/run_data.h"
#include "partwise/runs/drawn_figures.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

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
  ensure(kind.takes_image || request.options.image.empty(),
         "draw {}: shows {}; --image {} has no place in it, leave it out", kind.name, kind.shows,
         request.options.image);
  const auto files = files_to_write(request.out, kind.name);
  ensure(!files.empty() || request.into_report,
         "draw {}: say where to: --out FILE.png or FILE.svg, or --into-report", kind.name);
  for (const auto& file : files) make_room_for(file);
  const auto resources = start_session(machine);
  if (kind.needs != explaining::Needs::nothing) {
    models::data_of(runs::RunFolder::open(request.runs.front()), request.data);  // changed: refused
    for (const auto& folder : request.runs)
      explaining::provide_part_book(runs::RunFolder::open(folder), request.data, resources,
                                    request.checkpoint);
  }
  std::optional<Abandonable> abandonable("interrupted while drawing; nothing was written");
  const auto runs = explaining::open_drawn_runs(request.runs, request.data, request.checkpoint,
                                                request.options, kind.needs, resources);
  const auto plate = kind.draw(runs, request.options);
  const auto sheet = explaining::compose(plate);
  abandonable.reset();
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
  std::map<networks::Arm, runs::RunFolder> by_arm;
  for (const auto& run : runs) by_arm.emplace(models::design_of(run, data).arm, run);
  const auto main = by_arm.find(networks::Arm::interpretable);
  if (main == by_arm.end()) return;
  // The figures to draw, each with the runs it shows.
  std::vector<std::pair<const explaining::FigureKind*, std::vector<networks::Arm>>> wanted;
  std::set<networks::Arm> needed;
  for (const auto& kind : explaining::figure_kinds()) {
    std::vector<networks::Arm> arms{main->first};
    if (kind.beside && by_arm.count(*kind.beside) > 0) arms.push_back(*kind.beside);
    std::vector<fs::path> made_of;
    for (const auto arm : arms) {
      const auto& run = by_arm.at(arm);
      made_of.push_back(run.checkpoints() / "last.safetensors");
      made_of.push_back(explaining::part_book_file(run));
    }
    if (runs::is_drawn_since(main->second, kind.name, made_of)) continue;
    needed.insert(arms.begin(), arms.end());
    wanted.emplace_back(&kind, std::move(arms));
  }
  if (wanted.empty()) return;
  say("drawing figures ...");
  explaining::FigureOptions options;
  options.seed = seed;
  std::vector<std::string> folders;
  for (const auto arm : needed) folders.push_back(by_arm.at(arm).path().string());
  const auto opened = explaining::open_drawn_runs(folders, data, "last", options,
                                                  explaining::Needs::maps, resources);
  for (const auto& [kind, arms] : wanted) {
    std::vector<explaining::DrawnRun> shown;
    for (const auto arm : arms)
      shown.push_back(
          opened[static_cast<std::size_t>(std::distance(needed.begin(), needed.find(arm)))]);
    try {
      record(main->second, kind->name, kind->draw(shown, options));
    } catch (const Error& problem) {
      say(fmt::format("no figure {}: {}", kind->name, problem.what()));
    }
  }
}

}  // namespace partwise::experiments
