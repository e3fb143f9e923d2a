#include "partwise/base/files.h"
#include "partwise/base/json_text.h"
#include "partwise/base/printable.h"
#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/findings/findings_file.h"
#include "partwise/findings/run_comparison.h"
#include "partwise/judging/outdated_findings.h"
#include "partwise/metrics/catalogue.h"
#include "partwise/report/terminal.h"

#include <cmath>

namespace partwise::cli {
namespace {

struct CompareFlags {
  std::vector<std::string> runs;
  std::string json;
  findings::Wanted wanted;
  std::string metrics;
  bool all = false;
};

nlohmann::json comparisons_json(const std::vector<findings::ComparedNumber>& numbers) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  };
  auto lines = nlohmann::json::array();
  for (const auto& [role, key, first, second, comparison] : numbers) {
    lines.push_back({{"layer", role},
                     {"metric", key},
                     {"first", number(first)},
                     {"second", number(second)},
                     {"difference", number(comparison.difference)},
                     {"low", number(comparison.low)},
                     {"high", number(comparison.high)},
                     {"paired", comparison.paired},
                     {"verdict", words_for(relation(comparison))}});
  }
  return lines;
}

void compare_command(const CompareFlags& flags) {
  auto wanted = flags.wanted;
  wanted.extras = metrics::options_named(flags.metrics, flags.all, true);
  if (!wanted.data.empty())
    wanted.data_hash = content_hash(read_file(std::filesystem::path(wanted.data) / "dataset.json"));
  std::vector<std::string> outdated;
  const auto opened = [&](const std::string& path) -> findings::NamedFindings {
    const auto run = runs::RunFolder::open(path);
    auto found = findings::require_findings(run);
    if (auto why = judging::why_outdated(run, found); !why.empty())
      outdated.push_back(std::move(why));
    return {path, std::move(found)};
  };
  const auto first = opened(flags.runs[0]);
  const auto second = opened(flags.runs[1]);
  const auto numbers = findings::compare_runs(first, second, wanted);
  const auto& found = first.findings;
  const auto not_paired = findings::why_not_paired(found, second.findings);
  const auto& trained_on = found.training_images;
  for (const auto& why : outdated) say("note: " + why);
  if (!trained_on)
    say(fmt::format("note: whether some of the {} images are training images is not known",
                    found.rows));
  else if (*trained_on > 0)
    say(fmt::format("note: {} of {} images are training images", *trained_on, found.rows));
  if (!not_paired.empty())
    say(
        fmt::format("note: not paired image by image ({}); the intervals take the runs for "
                    "independent and are wider; run: partwise measure {} {}",
                    not_paired, first.name, second.name));
  if (!flags.json.empty()) {
    const nlohmann::json all{
        {"first", first.name},
        {"second", second.name},
        {"split", found.split},
        {"rows", found.rows},
        {"training_images", trained_on ? nlohmann::json(*trained_on) : nlohmann::json()},
        {"not_paired", not_paired},
        {"outdated", outdated},
        {"comparisons", comparisons_json(numbers)}};
    if (write_output(flags.json, json_text(all, 1) + "\n")) return;
  }
  fmt::print("first   {}\nsecond  {}\n{} images of split {}, the same for both\n\n{}",
             one_line(first.name), one_line(second.name), found.rows, printable(found.split),
             report::comparison_table(numbers));
}

}  // namespace

void add_compare(CLI::App& app) {
  const auto flags = std::make_shared<CompareFlags>();
  auto* command = add_command(app, "compare",
                              "Say which numbers of two measured runs differ: the same images were "
                              "drawn for both, 95 % intervals of the differences. No network runs.",
                              "partwise compare runs/masked runs/interpretable");
  command->add_option("runs", flags->runs, "two run folders")->required()->expected(2);
  command->add_option("--data", flags->wanted.data, "both must have been measured on this dataset");
  command->add_option("--split", flags->wanted.split, "and on this split");
  command->add_option("--json", flags->json, kAlsoJson);
  command->add_option("--metrics", flags->metrics,
                      "of the further metrics only these (default: all that both have), commas "
                      "between: " +
                          join(metrics::option_names(true)));
  command->add_flag("--all", flags->all, "every metric of a layer must be there");
  command->callback([flags] { compare_command(*flags); });
}

}  // namespace partwise::cli
