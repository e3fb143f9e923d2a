#include "partwise/base/files.h"
#include "partwise/base/json_text.h"
#include "partwise/base/progress.h"
#include "partwise/cli/measure_flags.h"
#include "partwise/experiments/judge_runs.h"
#include "partwise/report/exported_tables.h"
#include "partwise/report/terminal.h"

namespace partwise::cli {
namespace {

struct MeasureCommand {
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

void measure_command(const MeasureCommand& flags) {
  for (const auto& file : {flags.json, flags.csv, flags.markdown, flags.latex}) require_place(file);
  auto options = network_options(flags.measures, flags.split, flags.machine.threads);
  options.random_control = flags.random_control;
  options.checkpoint = flags.checkpoint;
  const auto named = experiments::measure_runs(flags.runs, flags.data, options, flags.machine);
  auto all = nlohmann::json::object();
  int64_t trained_on = 0;
  bool known = true;
  for (const auto& [name, one] : named) {
    all[name] = to_json(one);
    known &= one.training_images.has_value();
    trained_on = std::max(trained_on, one.training_images.value_or(0));
  }
  bool printed = write_output(flags.json, json_text(all, 1) + "\n");
  printed |= write_output(flags.csv, report::findings_csv(named));
  printed |= write_output(flags.markdown, report::findings_markdown(named));
  printed |= write_output(flags.latex, report::findings_latex(named));
  if (trained_on > 0) {
    say(fmt::format(
        "note: split {} holds {} images the networks were trained on; their numbers say "
        "little about new images",
        flags.split, trained_on));
  }
  if (!known)
    say("note: whether the networks were trained on some of these images is not known: the data "
        "are not those they were trained on");
  if (printed) return;
  fmt::print("{}{}{}", report::findings_table(named), report::further_lines(named),
             report::warning_lines(named));
}

}  // namespace

void add_measure(CLI::App& app) {
  const auto flags = std::make_shared<MeasureCommand>();
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
  command->add_option("--json", flags->json, kAlsoJson);
  command->add_option("--csv", flags->csv, "and a CSV file, one line per number");
  command->add_option("--markdown", flags->markdown, "and a table in Markdown");
  command->add_option("--latex", flags->latex, "and a table in LaTeX");
  command->add_flag("--random-control", flags->random_control,
                    "measure the same network untrained too, as one more control");
  flags->measures.of_network = true;
  add_measure_flags(*command, flags->measures);
  add_machine(*command, flags->machine);
  command->callback([flags] { measure_command(*flags); });
}

}  // namespace partwise::cli
