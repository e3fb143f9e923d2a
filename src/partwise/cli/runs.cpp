#include "partwise/base/json_text.h"
#include "partwise/base/printable.h"
#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/findings/findings_file.h"
#include "partwise/judging/outdated_findings.h"
#include "partwise/report/terminal.h"
#include "partwise/runs/run_list.h"

#include <filesystem>

namespace partwise::cli {
namespace {

namespace fs = std::filesystem;

struct Line {
  runs::ListedRun run;
  std::optional<double> accuracy;
  std::string split;
  std::string outdated;  // that its findings are of an earlier network; "": they are not
};

Line line_of(runs::ListedRun run) {
  Line line{std::move(run), std::nullopt, "", ""};
  if (!line.run.problem.empty()) return line;
  try {
    const auto folder = runs::RunFolder::open(line.run.path);
    const auto found = findings::read_findings(folder);
    if (!found) return line;
    line.outdated = judging::why_outdated(folder, *found);
    line.split = found->split;
    if (const auto* accuracy = findings::find_finding(found->findings, "accuracy"))
      line.accuracy = accuracy->value;
  } catch (const Error& problem) {
    line.run.problem = problem.what();
  }
  return line;
}

std::string state_of(const Line& line) {
  if (!line.run.problem.empty()) return "damaged: " + line.run.problem;
  if (line.run.is_training) return "training";
  if (!line.outdated.empty()) return "outdated";
  if (!line.split.empty()) return "measured";
  return line.run.epochs < line.run.epochs_wanted ? "not finished" : "trained";
}

nlohmann::json to_json(const Line& line) {
  const auto& run = line.run;
  return {{"run", run.path.string()},
          {"net", run.net},
          {"arm", run.arm},
          {"task", run.task},
          {"epochs", run.epochs},
          {"epochs_wanted", run.epochs_wanted},
          {"state", state_of(line)},
          {"accuracy", line.accuracy ? nlohmann::json(*line.accuracy) : nlohmann::json()},
          {"split", line.split},
          {"outdated", line.outdated},
          {"created", run.created},
          {"data", run.data}};
}

void print_lines(const std::vector<Line>& lines) {
  report::Rows rows{{"run", "net", "arm", "task", "epochs", "accuracy", "made", "state"}};
  for (const auto& line : lines) {
    const auto& run = line.run;
    rows.push_back({run.path.string(), run.net, run.arm, run.task,
                    fmt::format("{} of {}", run.epochs, run.epochs_wanted),
                    line.accuracy ? fmt::format("{:.3f} ({})", *line.accuracy, line.split) : "-",
                    run.created.substr(0, 10), state_of(line)});
  }
  fmt::print("{}", report::aligned(rows));
}

}  // namespace

void add_runs(CLI::App& app) {
  struct Flags {
    std::string folder = ".";
    bool json = false;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "runs",
                              "List the runs in and below a folder: network, task, how far they "
                              "are trained, accuracy where they are measured.",
                              "partwise runs runs");
  command->add_option("folder", flags->folder, "where to look")->capture_default_str();
  command->add_flag("--json", flags->json, "for machines");
  command->callback([flags] {
    std::vector<Line> lines;
    for (auto& run : runs::list_runs(flags->folder)) lines.push_back(line_of(std::move(run)));
    for (const auto& line : lines) {
      if (!line.outdated.empty()) say("note: " + line.outdated);
    }
    if (flags->json) {
      auto all = nlohmann::json::array();
      for (const auto& line : lines) all.push_back(to_json(line));
      fmt::print("{}\n", json_text(all, 1));
      return;
    }
    if (lines.empty())
      fmt::print("{}: no runs here\n", one_line(flags->folder));
    else
      print_lines(lines);
  });
}

}  // namespace partwise::cli
