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

// Into the report of the run that leads.
void record(const explaining::DrawnRun& leading,
            const std::string& figure,
            const explaining::Plate& plate) {
  const auto sheet = explaining::compose(plate, explaining::PlateWords::labels);
  const auto& position = leading.model.position;
  runs::record_figure(
      leading.run,
      {figure, plate.heading, plate.caption, spoken(plate), {{position.epoch, position.step}}},
      images::encode_png(sheet.image(kReportPixelsPerUnit)));
}

// The dataset that all runs are drawn on: the one named, or the first run's own. Each is held to
// what it was trained on, and learns its parts, on its own dataset where that is another.
datasets::PartDataset prepare_runs(const DrawRequest& request, const models::Resources& resources) {
  const bool named = !request.data.empty();
  std::vector<runs::RunFolder> runs;
  for (const auto& folder : request.runs) runs.push_back(runs::RunFolder::open(folder));
  const auto dataset = models::data_of(runs.front(), request.data);
  for (std::size_t i = 1; i < runs.size(); ++i) models::hold_to_its_data(runs[i], dataset, named);
  for (const auto& run : runs) {
    if (named || models::is_its_own(run, dataset))
      explaining::provide_part_book_from(dataset, run, resources, request.checkpoint);
    else
      explaining::provide_part_book(run, {}, resources, request.checkpoint);
  }
  return dataset;
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
  std::optional<datasets::PartDataset> dataset;
  if (kind.needs != explaining::Needs::nothing)
    dataset = prepare_runs(request, resources);
  else if (!request.data.empty())  // an older program's run follows from it
    dataset = datasets::load_dataset(request.data);
  std::optional<Abandonable> abandonable("interrupted while drawing; nothing was written");
  const auto runs =
      explaining::open_drawn_runs(request.runs, dataset ? &*dataset : nullptr, request.checkpoint,
                                  request.options, kind.needs, resources);
  const auto plate = kind.draw(runs, request.options);
  const auto sheet = explaining::compose(plate);
  abandonable.reset();
  for (const auto& file : files) {
    write_file_atomically(file, file.extension() == ".svg"
                                    ? sheet.svg(plate.heading, spoken(plate))
                                    : images::encode_png(sheet.image(kPixelsPerUnit)));
  }
  if (request.into_report) record(runs.front(), kind.name, plate);
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
  const auto dataset = models::data_of(main->second, data);
  const auto opened = explaining::open_drawn_runs(folders, &dataset, "last", options,
                                                  explaining::Needs::maps, resources);
  for (const auto& [kind, arms] : wanted) {
    std::vector<explaining::DrawnRun> shown;
    for (const auto arm : arms)
      shown.push_back(
          opened[static_cast<std::size_t>(std::distance(needed.begin(), needed.find(arm)))]);
    try {
      record(shown.front(), kind->name, kind->draw(shown, options));
    } catch (const Error& problem) {
      say(fmt::format("no figure {}: {}", kind->name, problem.what()));
    }
  }
}

}  // namespace partwise::experiments
