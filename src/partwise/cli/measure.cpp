#include "partwise/cli/measure.h"

#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/cli/findings_lines.h"
#include "partwise/cli/measure_flags.h"
#include "partwise/experiments/measure_run.h"
#include "partwise/report/csv.h"
#include "partwise/report/latex.h"
#include "partwise/report/markdown.h"

namespace partwise::cli {
namespace {

struct Flags {
  std::vector<std::string> runs;
  std::string data;
  std::string json;
  std::string csv;
  std::string markdown;
  std::string latex;
  std::string split = "test";
  bool random_control = false;
  std::string checkpoint = "last";
  MeasureFlags measures;
  experiments::Machine machine;
};

void write_tables(const Flags& flags, const std::vector<runs::RunFolder>& runs) {
  if (flags.csv.empty() && flags.markdown.empty() && flags.latex.empty()) return;
  std::vector<report::NamedFindings> named;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    named.push_back(
        {flags.runs[i], report::findings_from_json(*runs[i].findings(),
                                                   (runs[i].path() / "findings.json").string())});
  }
  if (!flags.csv.empty()) write_file_atomically(flags.csv, report::findings_csv(named));
  if (!flags.markdown.empty())
    write_file_atomically(flags.markdown, report::findings_markdown(named));
  if (!flags.latex.empty()) write_file_atomically(flags.latex, report::findings_latex(named));
}

// The further metrics of each network and layer, where there are any.
std::string extra_lines(const std::vector<runs::RunFolder>& runs) {
  std::string text;
  for (const auto& run : runs) {
    const auto findings = run.findings();
    const auto add = [&](const std::string& of, const nlohmann::json& measured) {
      const auto lines = finding_lines(measured, true);
      if (!lines.empty())
        text += fmt::format("\n{}, {}\n{}", findings->at("arm").get<std::string>(), of, lines);
    };
    add("whole network", *findings);
    for (const auto& layer : findings->at("layers"))
      add(layer.at("layer").get<std::string>(), layer);
  }
  return text;
}

void measure_command(const Flags& flags) {
  auto options = network_options(flags.measures, flags.split, flags.machine.threads);
  options.random_control = flags.random_control;
  options.checkpoint = flags.checkpoint;
  const auto runs = experiments::measure_runs(flags.runs, flags.data, options, flags.machine);
  auto all = nlohmann::json::object();
  int64_t trained_on = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& findings = all[flags.runs[i]] = *runs[i].findings();
    trained_on = std::max(trained_on, findings.value("training_images", int64_t{0}));
  }
  if (!flags.json.empty()) write_json_atomically(flags.json, all);
  write_tables(flags, runs);
  if (trained_on > 0) {
    say(fmt::format(
        "note: split {} holds {} images the networks were trained on; their numbers say "
        "little about new images",
        flags.split, trained_on));
  }
  fmt::print("{}{}", findings_table(runs), extra_lines(runs));
}

}  // namespace

std::string findings_table(const std::vector<runs::RunFolder>& runs) {
  std::string table =
      fmt::format("{:<15} {:<7} {:<22} {:<22} {:<22} {:<22} {:<22}\n", "arm", "layer", "accuracy",
                  "purity", "part interpretability", "instability D", "D / D_shuffle");
  for (const auto& run : runs) {
    const auto findings = run.findings();
    if (!findings) continue;
    for (const auto& layer : findings->at("layers")) {
      table +=
          fmt::format("{:<15} {:<7} {:<22} {:<22} {:<22} {:<22} {:<22}\n",
                      findings->at("arm").get<std::string>(), layer.at("layer").get<std::string>(),
                      finding_text(findings->at("accuracy")), finding_text(layer.at("purity")),
                      finding_text(layer.at("part_interpretability")),
                      finding_text(layer.at("location_instability")),
                      finding_text(layer.at("instability_ratio")));
    }
  }
  return table;
}

void add_measure(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "measure",
                              "Measure trained networks: accuracy, purity, part interpretability, "
                              "location instability, and more on demand (--all), with controls "
                              "and 95 % intervals. adversarial_distortion attacks the network: "
                              "minutes with net tiny, hours with VGG-16 on a CPU.",
                              "partwise measure runs/fox --all --metrics adversarial_distortion");
  command->add_option("runs", flags->runs, "run folders")->required();
  command->add_option("--data", flags->data, "another dataset than the run was trained on");
  command->add_option("--split", flags->split, "which images; all: every split")
      ->capture_default_str();
  add_checkpoint(*command, flags->checkpoint);
  command->add_option("--json", flags->json, "also write everything to this file");
  command->add_option("--csv", flags->csv, "and a CSV file, one line a number");
  command->add_option("--markdown", flags->markdown, "and a table in Markdown");
  command->add_option("--latex", flags->latex, "and a table in LaTeX");
  command->add_flag("--random-control", flags->random_control,
                    "measure the same network untrained too, as one more control");
  flags->measures.known = network_metrics();
  add_measure_flags(*command, flags->measures);
  add_machine(*command, flags->machine);
  command->callback([flags] { measure_command(*flags); });
}

}  // namespace partwise::cli
