#include "partwise/cli/command.h"
#include "partwise/experiments/draw_figure.h"
#include "partwise/explaining/figures/figure_kinds.h"

namespace partwise::cli {
namespace {

struct DrawFlags {
  bool list = false;
  experiments::DrawRequest request;
  nlohmann::json given = nlohmann::json::object();
  experiments::Machine machine;
};

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const auto& kind : explaining::figure_kinds()) names.emplace_back(kind.name);
  return names;
}

void list_figures() {
  for (const auto& kind : explaining::figure_kinds()) {
    fmt::print("{:<14}{}\n{:<14}  in the paper: {}{}\n", kind.name, kind.shows, "", kind.in_paper,
               kind.needs == explaining::Needs::nothing ? "; needs no dataset" : "");
  }
}

void draw_command(DrawFlags& flags) {
  if (flags.list) {
    list_figures();
    return;
  }
  ensure(!flags.request.figure.empty(), "draw: which figure? {}", join(figure_names()));
  flags.request.options = options_from<explaining::FigureOptions>(flags.given);
  const auto drawn = experiments::draw_figure(flags.request, flags.machine);
  for (const auto& file : drawn.files) fmt::print("{}\n", file.string());
  if (flags.request.into_report)
    fmt::print("{}: in its report from now on\n", flags.request.runs.front());
  if (!drawn.details.empty()) fmt::print("{}\n", drawn.details);
  fmt::print("{}\n", drawn.caption);
}

}  // namespace

void add_draw(CLI::App& app) {
  const auto flags = std::make_shared<DrawFlags>();
  auto* command = add_command(
      app, "draw", "Draw one of the paper's figures of trained networks, as PNG or SVG.",
      "partwise draw filters runs/interpretable runs/ordinary --out filters.png");
  command->add_option("figure", flags->request.figure, join(figure_names(), " | "));
  command->add_option("runs", flags->request.runs, "run folders; the first one leads");
  command->add_flag("--list", flags->list, "say what each figure shows");
  command->add_option("--out", flags->request.out,
                      "FILE.png or FILE.svg; a name without ending, or a folder, gets both");
  command->add_flag("--into-report", flags->request.into_report,
                    "keep it in the first run's folder: its report shows it");
  command->add_option("--data", flags->request.data, "another dataset than the first run's");
  add_fields<explaining::FigureOptions>(*command, flags->given);
  add_checkpoint(*command, flags->request.checkpoint);
  add_machine(*command, flags->machine);
  command->callback([flags] { draw_command(*flags); });
}

}  // namespace partwise::cli
