#include "partwise/report/report.h"

#include "partwise/base/printable.h"
#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/experiments/explain_for_report.h"
#include "partwise/findings/findings_file.h"
#include "partwise/judging/outdated_findings.h"
#include "partwise/models/checkpoint.h"

namespace partwise::cli {

void add_report(CLI::App& app) {
  struct Flags {
    std::vector<std::string> runs;
    std::string out;
    std::string title = "Which parts of the object does the network use?";
    std::string data;
    experiments::Machine machine;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(
      app, "report",
      "Write one offline HTML page about measured runs. It opens with three photographs, explained "
      "by the run nearest to the full method where that knows its parts (partwise names RUN "
      "--learn) and its data is there.",
      "partwise report runs/a runs/b --out report.html");
  command->add_option("runs", flags->runs, "run folders")->required();
  command->add_option("--out", flags->out, "the page to write")->required();
  command->add_option("--title", flags->title, "its heading")->capture_default_str();
  command->add_option("--data", flags->data,
                      "where the data it was measured on lies, if not where it was trained");
  add_machine(*command, flags->machine);
  command->callback([flags] {
    std::vector<runs::RunFolder> runs;
    for (const auto& path : flags->runs) runs.push_back(runs::RunFolder::open(path));
    for (const auto& run : runs) models::name_lost_epochs(run);
    experiments::explain_for_report(runs, flags->data, flags->machine);
    nlohmann::json context{{"title", flags->title}};
    for (const auto& run : runs) {
      const auto found = findings::read_findings(run);
      const auto why = found ? judging::why_outdated(run, *found) : "";
      if (why.empty()) continue;
      say("note: " + why);
      context["outdated"].push_back(one_line(why));
    }
    report::write_report(runs, context, flags->out);
    fmt::print("{}\n", flags->out);
  });
}

}  // namespace partwise::cli
