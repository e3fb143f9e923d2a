#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/datasets/import/import.h"
#include "partwise/datasets/import/importers.h"

namespace partwise::cli {
namespace {

std::string format_list() {
  std::string text = "Formats (their layouts and addresses are in docs/datasets.md):";
  for (const auto& format : datasets::import_formats()) {
    text += fmt::format("\n  {:<12} {}", format.name, format.what);
  }
  return text;
}

// Each kind with its number and its first cases; skipped.json has all of them.
void say_skipped(const std::vector<datasets::Skipped>& skipped, const std::string& out) {
  constexpr int64_t kNamed = 3;
  if (skipped.empty()) return;
  for (const auto& [kind, count] : datasets::count_by_kind(skipped)) {
    say(fmt::format("skipped, {}: {}", kind, count));
    int64_t named = 0;
    for (const auto& item : skipped) {
      if (item.kind == kind && named++ < kNamed) {
        say(fmt::format("  {} ({})", item.name, item.reason));
      }
    }
  }
  say(fmt::format("all of them are named in {}/skipped.json", out));
}

}  // namespace

void add_data_import(CLI::App& data) {
  struct Flags {
    datasets::ImportRequest request;
    std::string source;
    std::string out;
    std::string negatives;
    nlohmann::json given = nlohmann::json::object();
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(data, "import",
                              "Turn an original download into a part-dataset.\n" + format_list(),
                              "partwise data import animal-part detanimalpart animals --category "
                              "fox cat --protocol paper");
  command->add_option("format", flags->request.format, "one of the formats above")->required();
  command->add_option("source", flags->source, "the original, unpacked")->required();
  command->add_option("out", flags->out, "folder to write")->required();
  command->add_option("--category", flags->request.categories, "only these (default: all)");
  command->add_option("--as", flags->request.merged_name,
                      "make all of them one category of this name");
  command->add_option("--negatives", flags->negatives, "folder of images without objects to add");
  add_fields<datasets::ImportOptions>(*command, flags->given);
  command->add_flag("--strict", flags->request.strict,
                    "refuse at the first image or object that can't be used");
  add_threads(*command, flags->request.threads);
  command->callback([flags] {
    auto& request = flags->request;
    request.source = flags->source;
    request.out = flags->out;
    request.negatives = flags->negatives;
    request.options = options_from<datasets::ImportOptions>(flags->given);
    const auto report = datasets::import_dataset(request);
    const auto& dataset = report.dataset;
    fmt::print("{}: {} images, {} objects, {} categories", flags->out, dataset.images.size(),
               dataset.annotations.size(), dataset.categories.size());
    if (dataset.splits.contains("train"))
      fmt::print(", {} train", dataset.splits.at("train").size());
    for (const auto& [split, images] : dataset.splits) {
      if (split != "train") fmt::print(", {} {}", images.size(), split);
    }
    fmt::print("\n");
    say_skipped(report.skipped, flags->out);
    for (const auto& note : report.notes) say("note: " + note);
  });
}

}  // namespace partwise::cli
