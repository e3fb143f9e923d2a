#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/models/model.h"
#include "partwise/tensors/session.h"

namespace partwise::cli {
namespace {

struct ExportFlags {
  std::string run;
  std::string out;
  std::string data;
  std::string checkpoint = "last";
};

void export_command(const ExportFlags& flags) {
  const auto run = runs::RunFolder::open(flags.run);
  tensors::start_session(0);
  const auto written = models::export_run(run, flags.checkpoint, flags.data, flags.out);
  const auto epochs = run.options().value("epochs", written.epochs);
  if (written.epochs < epochs) {
    say(fmt::format("{}: the {} checkpoint is from epoch {} of {}", flags.run, flags.checkpoint,
                    written.epochs, epochs));
  }
  fmt::print("{}: {} {}, {:.1f} MB\n", flags.out, written.net, written.arm,
             static_cast<double>(written.bytes) / 1e6);
}

}  // namespace

void add_export(CLI::App& app) {
  const auto flags = std::make_shared<ExportFlags>();
  auto* command = add_command(app, "export",
                              "Write a trained network as ONNX (logits, maps before and after the "
                              "mask, and part locations) or, by its ending, as safetensors.",
                              "partwise export runs/fox --out fox.onnx");
  command->add_option("run", flags->run, "run folder")->required();
  command->add_option("--out", flags->out, "the .onnx or .safetensors file to write")->required();
  command->add_option("--data", flags->data,
                      "dataset of a run made by an older program, where it has moved");
  add_checkpoint(*command, flags->checkpoint);
  command->callback([flags] { export_command(*flags); });
}

}  // namespace partwise::cli
