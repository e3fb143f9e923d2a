#include "partwise/judging/referee.h"

#include "partwise/base/files.h"
#include "partwise/base/json_text.h"
#include "partwise/base/printable.h"
#include "partwise/base/progress.h"
#include "partwise/cli/measure_flags.h"
#include "partwise/report/terminal.h"

namespace partwise::cli {

void add_referee(CLI::App& app) {
  struct Flags {
    std::string dump;
    std::string data;
    std::string json;
    judging::RefereeOptions options;
    MeasureFlags measures;
    int threads = 0;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "referee",
                              "Measure activations that any framework wrote, with the metrics of "
                              "measure: safetensors with maps [rows, filters, n, n] and annotation "
                              "[rows], see docs/dump.md.",
                              "partwise referee fox.safetensors --data animals --all");
  command->add_option("dump", flags->dump, "the activations")->required();
  command->add_option("--data", flags->data, "folder of the part-dataset")->required();
  command->add_option("--split", flags->options.split,
                      "rows to judge (default: what the dump says, else all)");
  command->add_option("--task", flags->options.task,
                      "multi or binary:CATEGORY (default: what the dump says, else multi)");
  command->add_option("--json", flags->json, kAlsoJson);
  add_measure_flags(*command, flags->measures);
  add_threads(*command, flags->threads);
  command->callback([flags] {
    require_place(flags->json);
    auto options = flags->options;
    options.measures = layer_options(flags->measures, flags->threads);
    const auto found = judging::judge(judging::read_dump(flags->dump),
                                      datasets::load_dataset(flags->data), options);
    for (const auto& note : found.notes) say("note: " + note);
    if (!flags->json.empty() && write_output(flags->json, json_text(to_json(found), 1) + "\n"))
      return;
    const auto& layer = found.layers.front();
    fmt::print("{}: {} rows, {} filters, split {}\n{}{}", printable(layer.layer), found.rows,
               *layer.filters, printable(found.split), report::finding_lines(layer.findings, true),
               report::warning_lines(std::vector<findings::NamedFindings>{{flags->dump, found}}));
  });
}

}  // namespace partwise::cli
