#include "partwise/base/files.h"
#include "partwise/cli/command.h"
#include "partwise/judging/network_dump.h"

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
    ensure(std::filesystem::path(flags->out).extension() == ".safetensors",
           "{}: only safetensors is written; end the name in .safetensors", flags->out);
    const auto folder = std::filesystem::absolute(flags->out).parent_path();
    make_writable_folder(folder);  // before minutes of work
    const auto resources = experiments::start_session(flags->machine);
    const auto run = runs::RunFolder::open(flags->run);
    const auto dataset = datasets::load_dataset(run.data(flags->data));
    const auto size = judging::dump_layer(run, dataset, flags->options, flags->out, resources);
    fmt::print("{}: {} rows, {} filters, {} x {} cells\n", flags->out, size.rows, size.filters,
               size.side, size.side);
  });
}

}  // namespace partwise::cli
