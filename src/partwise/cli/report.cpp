#include "partwise/report/report.h"

#include "partwise/cli/command.h"

namespace partwise::cli {

void add_report(CLI::App& app) {
  struct Flags {
    std::vector<std::string> runs;
    std::string out;
    std::string title = "Which parts of the object does the network use?";
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "report", "Write one offline HTML page about measured runs.",
                              "partwise report runs/a runs/b --out report.html");
  command->add_option("runs", flags->runs, "run folders")->required();
  command->add_option("--out", flags->out, "the page to write")->required();
  command->add_option("--title", flags->title, "its heading")->capture_default_str();
  command->callback([flags] {
    std::vector<runs::RunFolder> runs;
    for (const auto& path : flags->runs) runs.push_back(runs::RunFolder::open(path));
    report::write_report(runs, {{"title", flags->title}}, flags->out);
    fmt::print("{}\n", flags->out);
  });
}

}  // namespace partwise::cli
