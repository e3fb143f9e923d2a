#include "partwise/base/files.h"
#include "partwise/base/json_text.h"
#include "partwise/cli/command.h"
#include "partwise/experiments/verify_runs.h"

namespace partwise::cli {
namespace {

struct VerifyFlags {
  std::vector<std::string> runs;
  std::string data;
  std::string json;
  std::string csv;
  std::string markdown;
  std::string parts;
  std::string checkpoint = "last";
  bool fields = false;
  bool silencing = false;
  nlohmann::json given = nlohmann::json::object();
  experiments::Machine machine;
};

void verify_command(const VerifyFlags& flags) {
  auto options = options_from<explaining::VerifyOptions>(flags.given);
  options.occlusion_fields = flags.fields;
  options.bootstrap = options_from<metrics::BootstrapOptions>(flags.given);
  options.bootstrap.threads = flags.machine.threads;
  const auto found =
      experiments::verify_runs(flags.runs, flags.data, flags.checkpoint, options, flags.machine);
  auto all = nlohmann::json::object();
  for (const auto& [name, one] : found) all[name] = to_json(one);
  bool printed = write_output(flags.json, json_text(all, 1) + "\n");
  printed |= write_output(flags.csv, explaining::verification_csv(found));
  printed |= write_output(flags.markdown, explaining::verification_markdown(found));
  printed |= write_output(flags.parts, explaining::judged_parts_csv(found));
  if (!printed) fmt::print("{}", explaining::verification_text(found));
}

void silence_command(const VerifyFlags& flags) {
  const auto wanted = options_from<explaining::VerifyOptions>(flags.given);
  explaining::SilencingOptions options;
  if (flags.given.contains("images")) options.images = wanted.images;
  options.seed = static_cast<uint64_t>(wanted.seed);
  options.bootstrap = options_from<metrics::BootstrapOptions>(flags.given);
  options.bootstrap.threads = flags.machine.threads;
  const auto found =
      experiments::silence_parts(flags.runs, flags.data, flags.checkpoint, options, flags.machine);
  auto all = nlohmann::json::object();
  for (const auto& [name, one] : found) all[name] = to_json(one);
  if (write_output(flags.json, json_text(all, 1) + "\n")) return;
  for (const auto& [name, one] : found) fmt::print("{}\n{}", name, explaining::silencing_text(one));
}

}  // namespace

void add_verify(CLI::App& app) {
  const auto flags = std::make_shared<VerifyFlags>();
  auto* command = add_command(
      app, "verify",
      "Hold explanations against the truth: draw synthetic animals again without single parts and "
      "see whether what parts, Grad-CAM, occlusion and input x gradient claim is what happens. "
      "Writes faithfulness.json into each run.",
      "partwise verify demo/runs/interpretable demo/runs/masked --markdown faithfulness.md");
  command->add_option("runs", flags->runs, "run folders, trained on synthetic animals")->required();
  command->add_option("--data", flags->data, "another dataset than the run was trained on");
  add_checkpoint(*command, flags->checkpoint);
  add_fields<explaining::VerifyOptions>(*command, flags->given, {"occlusion_fields"});
  auto* fields =
      command->add_flag("--fields", flags->fields,
                        "also regions by occlusion, learnt on training images: minutes more");
  auto* silencing = command->add_flag(
      "--silencing", flags->silencing,
      "what photographs allow instead: parts are silenced inside the network and their "
      "outlines covered; writes silencing.json");
  add_fields<metrics::BootstrapOptions>(*command, flags->given);
  command->add_option("--json", flags->json, kAlsoJson);
  auto* csv = command->add_option("--csv", flags->csv, "and a CSV file, one line per number");
  auto* markdown = command->add_option("--markdown", flags->markdown, "and tables in Markdown");
  auto* parts = command->add_option(
      "--parts", flags->parts,
      "and a CSV file with every part of every image: claims beside the true drop");
  for (auto* option : {fields, csv, markdown, parts}) silencing->excludes(option);
  add_machine(*command, flags->machine);
  command->callback([flags] {
    for (const auto& file : {flags->json, flags->csv, flags->markdown, flags->parts})
      require_place(file);
    flags->silencing ? silence_command(*flags) : verify_command(*flags);
  });
}

}  // namespace partwise::cli
