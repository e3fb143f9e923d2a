#include "partwise/cli/command.h"
#include "partwise/experiments/reproduction.h"

namespace partwise::cli {
namespace {

struct ReproduceFlags {
  experiments::GridRequest request;
  bool list = false;
  nlohmann::json measures = nlohmann::json::object();
};

void reproduce_command(ReproduceFlags& flags) {
  flags.request.bootstrap = options_from<metrics::BootstrapOptions>(flags.measures);
  if (flags.list) {
    for (const auto& [cell, progress] : experiments::list_grid(flags.request))
      fmt::print("{:<9} {}\n", word_of(progress), experiments::name_of(cell));
    return;
  }
  const auto [table, failed] = experiments::run_grid(flags.request);
  fmt::print("{}", table);
  ensure(failed.empty(), "{} cell(s) failed: {}", failed.size(), join(failed));
}

}  // namespace

void add_reproduce(CLI::App& app) {
  const auto flags = std::make_shared<ReproduceFlags>();
  auto& request = flags->request;
  auto& selection = request.selection;
  auto* command = add_command(
      app, "reproduce",
      "Train and measure the grid behind one of the paper's tables and print our numbers beside "
      "the paper's. Interrupted or run again, it goes on with what is missing.",
      "partwise reproduce voc-purity --data voc --out grid --init weights "
      "--config configs/real-photos.json");
  command->add_option("table", request.table, "which one; a wrong name lists them")->required();
  command->add_option("--data", request.data, "folder of the part-dataset");
  command->add_option("--out", request.out, "folder for runs and tables");
  command->add_option("--net", selection.nets, "only these, or others than the paper's");
  command->add_option("--arm", selection.arms, "only these, or others than the paper's");
  command->add_option("--category", selection.categories, "only these, or others");
  command->add_option("--loss", selection.losses, "only these of the table's");
  command->add_option("--seeds", selection.seeds, "one training each")->capture_default_str();
  command->add_option_function<int64_t>(
      "--epochs", [flags](int64_t epochs) { flags->request.recipe.given["epochs"] = epochs; },
      "passes over the training images");
  command->add_option("--init", request.init,
                      "weights to start from: a file, a run, or a folder with one file per net");
  command->add_option("--split", request.split, "images to measure on; all: every split")
      ->capture_default_str();
  command->add_flag("--list", flags->list, "only list the cells and how far they are");
  add_recipe_flags(*command, request.recipe);
  command->get_option("--config")
      ->description("JSON file of options; {net} in its name stands for the cell's net");
  add_fields<metrics::BootstrapOptions>(*command, flags->measures);
  add_machine(*command, request.machine);
  command->callback([flags] { reproduce_command(*flags); });
}

}  // namespace partwise::cli
