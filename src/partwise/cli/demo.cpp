#include "partwise/experiments/demo.h"

#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/report/terminal.h"

namespace partwise::cli {
namespace {

struct DemoFlags {
  std::string out;  // empty: one folder for the demo, another for the quick one
  bool quick = false;
  nlohmann::json given = nlohmann::json::object();
  experiments::Machine machine;
};

void demo_command(const DemoFlags& flags) {
  auto options = flags.quick ? experiments::quick_demo() : experiments::DemoOptions{};
  merge_json(options, flags.given, "command line");
  const auto out = !flags.out.empty() ? flags.out
                   : flags.quick      ? std::string("partwise-demo-quick")
                                      : std::string("partwise-demo");
  const auto command =
      fmt::format("partwise demo --seed {}{}", options.seed, flags.quick ? " --quick" : "");
  const auto demo = experiments::run_demo(out, options, command, flags.machine);
  std::vector<findings::NamedFindings> found;
  for (const auto& one : demo.found) found.push_back({one.arm, one});
  fmt::print("{}\nreport   {}\nsummary  {}\ntime     {}\nexplore  partwise serve {}\n",
             report::findings_table(found), std::filesystem::absolute(demo.report).string(),
             std::filesystem::absolute(demo.summary).string(), readable_duration(demo.seconds),
             (std::filesystem::absolute(out) / "runs" / "interpretable").string());
}

}  // namespace

void add_demo(CLI::App& app) {
  const auto flags = std::make_shared<DemoFlags>();
  auto* command =
      add_command(app, "demo",
                  "The main job on built-in data: draw animals, train the four arms, measure them, "
                  "write report.html and summary.json. Run again, it goes on where it stopped.",
                  "partwise demo --seed 1");
  command->add_option("--out", flags->out,
                      "folder to write (partwise-demo; with --quick partwise-demo-quick)");
  command->add_flag("--quick", flags->quick,
                    "less data, fewer epochs, a backbone trained before: about a minute");
  add_fields<experiments::DemoOptions>(*command, flags->given);
  add_machine(*command, flags->machine);
  command->callback([flags] { demo_command(*flags); });
}

}  // namespace partwise::cli
