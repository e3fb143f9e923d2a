#include "partwise/cli/command.h"
#include "partwise/experiments/judge_runs.h"

namespace partwise::cli {

void add_dump(CLI::App& app) {
  struct Flags {
    std::string run;
    std::string out;
    std::string data;
    judging::DumpOptions options;
    experiments::Machine machine;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command =
      add_command(app, "dump",
                  "Write a layer's activations for other tools (and for referee): maps, "
                  "annotation ids, categories of the filters, masked maps.",
                  "partwise dump runs/fox --layer conv4 --out fox.safetensors");
  command->add_option("run", flags->run, "run folder")->required();
  command->add_option("--layer", flags->options.layer, "whose maps; a wrong name lists the layers")
      ->required();
  command->add_option("--out", flags->out, "the .safetensors file to write")->required();
  command->add_option("--data", flags->data, "another dataset than the run was trained on");
  command->add_option("--split", flags->options.split, "which images")->capture_default_str();
  add_checkpoint(*command, flags->options.checkpoint);
  command->add_flag("--train-rows", flags->options.train_rows,
                    "add the training images: thresholds and categories come from them");
  command->add_flag("--half", flags->options.half, "16-bit floats: half the size, rounded");
  add_machine(*command, flags->machine);
  command->callback([flags] {
    const auto [rows, filters, side] =
        experiments::dump_run(flags->run, flags->data, flags->options, flags->out, flags->machine);
    fmt::print("{}: {} rows, {} filters, {} x {} cells\n", flags->out, rows, filters, side, side);
  });
}

}  // namespace partwise::cli
