#include "partwise/base/json_text.h"
#include "partwise/base/printable.h"
#include "partwise/cli/command.h"
#include "partwise/experiments/explain_errors.h"

namespace partwise::cli {
namespace {

constexpr std::size_t kPartsPrinted = 5;

void print_pair(const explaining::ConfusedPair& pair, const std::vector<std::string>& files) {
  fmt::print("{} taken for {}: {} of {}\n  {:<22} {:>10} {:>10} {:>10}\n", printable(pair.truth),
             printable(pair.decided), pair.mistakes.size(), pair.of, "part", "spoke for", "usually",
             "led");
  for (std::size_t i = 0; i < std::min(kPartsPrinted, pair.parts.size()); ++i) {
    const auto& part = pair.parts[i];
    fmt::print("  {:<22} {:>+10.2f} {:>+10.2f} {:>8.0f} %\n", printable(part.name), part.contrast,
               part.usual, 100.0 * part.leading);
  }
  std::string images;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, files.size()); ++i)
    images += (i == 0 ? "" : ", ") + printable(files[i]);
  fmt::print("  images: {}{}\n", images, files.size() > 4 ? ", ..." : "");
}

}  // namespace

void add_errors(CLI::App& app) {
  struct Flags {
    experiments::ErrorsRequest request;
    std::string out;
    bool json = false;
    experiments::Machine machine;
  };
  const auto flags = std::make_shared<Flags>();
  auto* command = add_command(
      app, "errors",
      "Explain what a network gets wrong: for every confused pair of classes the images, and which "
      "parts spoke for the wrong class, by how many logits, against what the same parts say on "
      "objects that are decided right.",
      "partwise errors runs/fox --out mistakes");
  auto& request = flags->request;
  command->add_option("run", request.run, "run folder")->required();
  command->add_option("--data", request.data, "another dataset than the run was trained on");
  command->add_option("--split", request.split, "which images; all: every split")
      ->capture_default_str();
  command->add_option("--out", flags->out, "folder for pictures of mistakes and errors.json");
  command->add_option("--pictures", request.pictures, "pictures per confused pair")
      ->capture_default_str()
      ->check(CLI::Range(0, 10000));
  command->add_flag("--json", flags->json, "print what errors.json holds instead of words");
  add_checkpoint(*command, request.checkpoint);
  add_machine(*command, flags->machine);
  command->callback([flags] {
    flags->request.out = flags->out;
    const auto outcome = experiments::explain_errors(flags->request, flags->machine);
    if (flags->json) {
      fmt::print("{}\n", json_text(outcome.json, 1));
      return;
    }
    fmt::print("{} of {} wrong\n", outcome.wrong, outcome.objects);
    for (std::size_t i = 0; i < outcome.pairs.size(); ++i)
      print_pair(outcome.pairs[i], outcome.files[i]);
    if (!flags->out.empty()) fmt::print("{}\n", flags->out);
  });
}

}  // namespace partwise::cli
