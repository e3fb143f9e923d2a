#include "partwise/base/progress.h"
#include "partwise/cli/command.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/models/examples.h"
#include "partwise/networks/onnx.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/tensor_file.h"
#include "partwise/training/checkpoint.h"
#include "partwise/training/trainer.h"

namespace partwise::cli {
namespace {

struct Flags {
  std::string run;
  std::string out;
  std::string data;
  std::string checkpoint = "last";
};

// What a stranger needs to feed the network and to read its answer; docs/export.md.
std::map<std::string, std::string> metadata_of(const runs::RunFolder& run,
                                               const training::Recipe& recipe,
                                               const models::Task& task,
                                               int64_t epochs) {
  return {{"arm", recipe.train.arm},
          {"task", recipe.train.task},
          {"loss", recipe.train.loss},
          {"categories", nlohmann::json(task.categories).dump()},
          {"pixel_order", "RGB"},
          {"pixel_scale", "1/255"},
          {"pixel_mean", nlohmann::json(models::kPixelMean).dump()},
          {"pixel_std", nlohmann::json(models::kPixelSpread).dump()},
          {"epochs", std::to_string(epochs)},
          {"partwise_version", run.manifest().value("version", "")},
          {"partwise_commit", run.manifest().value("commit", "")}};
}

void export_command(const Flags& flags) {
  const auto run = runs::RunFolder::open(flags.run);
  const auto recipe = training::recipe_from_json(run.options(), run.path() / "options.json");
  const auto data = flags.data.empty() ? run.manifest().value("data", "") : flags.data;
  const auto task =
      models::make_task(recipe.train.task, recipe.train.loss, datasets::load_dataset(data));
  tensors::start_session(0);
  const auto checkpoint = training::load_checkpoint(run, flags.checkpoint);
  auto network = training::make_network(recipe, task);
  network.load_state(checkpoint.tensors);
  const auto epochs = checkpoint.position.epoch;
  if (epochs < recipe.train.epochs) {
    say(fmt::format("{}: the {} checkpoint is from epoch {} of {}", flags.run, flags.checkpoint,
                    epochs, recipe.train.epochs));
  }
  auto metadata = metadata_of(run, recipe, task, epochs);
  if (std::filesystem::path(flags.out).extension() == ".safetensors") {
    metadata["net"] = recipe.train.net;
    metadata["input_side"] = std::to_string(network.architecture().input_side);
    tensors::save_tensors(flags.out, {network.state(), metadata});
  } else {
    networks::write_onnx(flags.out, network, metadata);
  }
  fmt::print("{}: {} {}, {:.1f} MB\n", flags.out, recipe.train.net, recipe.train.arm,
             static_cast<double>(std::filesystem::file_size(flags.out)) / 1e6);
}

}  // namespace

void add_export(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(app, "export",
                              "Write a trained network as ONNX (logits, maps before and after the "
                              "mask, and part locations) or, by its ending, as safetensors.",
                              "partwise export runs/fox --out fox.onnx");
  command->add_option("run", flags->run, "run folder")->required();
  command->add_option("--out", flags->out, "the .onnx or .safetensors file to write")->required();
  command->add_option("--data", flags->data, "the run's dataset, where it has moved");
  add_checkpoint(*command, flags->checkpoint);
  command->callback([flags] { export_command(*flags); });
}

}  // namespace partwise::cli
