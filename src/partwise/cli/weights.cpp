#include "partwise/base/json_text.h"
#include "partwise/cli/command.h"
#include "partwise/formats/convert.h"
#include "partwise/formats/safetensors.h"
#include "partwise/weights/inspect.h"
#include "partwise/weights/read_weights.h"

#include <array>

namespace partwise::cli {
namespace {

void add_inspect(CLI::App& weights) {
  struct Flags {
    std::string file;
    bool json = false;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command =
      add_command(weights, "inspect",
                  "List the arrays of a weights file: name, type, shape, range, and its "
                  "metadata. Nothing in the file is run.",
                  "partwise weights inspect resnet18.pth");
  command->add_option("file", flags->file, "safetensors, PyTorch .pth or MatConvNet .mat")
      ->required();
  command->add_flag("--json", flags->json, "for machines");
  command->callback([flags] {
    const auto file = weights::read_weights(flags->file);
    if (flags->json) {
      fmt::print("{}\n", json_text(weights::summary_json(file), 1));
    } else {
      fmt::print("{}", weights::summary_text(file, flags->file));
    }
  });
}

void add_convert(CLI::App& weights) {
  struct Flags {
    std::string in;
    std::string out;
    std::string dtype;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(weights, "convert", "Write any weights file as safetensors.",
                              "partwise weights convert vgg16.pth vgg16.safetensors --dtype f16");
  command->add_option("in", flags->in, "safetensors, PyTorch .pth or MatConvNet .mat")->required();
  command->add_option("out", flags->out, "the .safetensors file to write")->required();
  command->add_option("--dtype", flags->dtype,
                      "type of the floating-point arrays: f32 | f16 | bf16 (default: as they are)");
  command->callback([flags] {
    static const std::vector<std::string> names{"f32", "f16", "bf16"};
    constexpr std::array kTypes{formats::Dtype::f32, formats::Dtype::f16, formats::Dtype::bf16};
    const bool change = !flags->dtype.empty();
    const auto type = change ? index_of_name("dtype", flags->dtype, names) : 0;
    ensure(std::filesystem::path(flags->out).extension() == ".safetensors",
           "{}: only safetensors is written; end the name in .safetensors", flags->out);
    auto file = weights::read_weights(flags->in);
    ensure(!file.arrays.empty(), "{}: holds no arrays", flags->in);
    if (change) formats::convert_floats(file, kTypes.at(type), flags->in);
    formats::write_safetensors(flags->out, file);
    fmt::print("{}: {} arrays from a {} file\n", flags->out, file.arrays.size(), file.format);
    for (const auto& line : file.skipped) fmt::print("skipped {}\n", line);
  });
}

}  // namespace

void add_weights(CLI::App& app) {
  auto* weights = app.add_subcommand("weights", "Look into and convert files of trained weights.");
  weights->require_subcommand(1);
  add_inspect(*weights);
  add_convert(*weights);
}

}  // namespace partwise::cli
