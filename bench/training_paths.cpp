// One training by the kernels and by composed operators, from the same seed and the backbone that
// the program carries: the curves must part by no more than rounding makes them. What rounding
// does: the composed one again on another number of threads. What a difference that matters is:
// another seed. By SGD, which passes rounding on as it is; AdamW's first steps are a gradient's
// signs, and where the true gradient is 0 (what a normalisation takes out) those are the signs of
// rounding errors.
//   training_paths FOLDER [EPOCHS] [IMAGES]     (images per category; six categories)
#include "partwise/base/error.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/parts/fused_maps.h"
#include "partwise/training/trainer.h"

#include <ATen/Parallel.h>

#include <cstdio>
#include <optional>

namespace {

namespace fs = std::filesystem;
using namespace partwise;

struct Path {
  const char* name;
  int64_t seed;
  bool composed;
  int threads = 2;
};

std::vector<nlohmann::json> train(const Path& path,
                                  const datasets::PartDataset& data,
                                  const fs::path& folder,
                                  int64_t epochs) {
  training::Recipe recipe;
  recipe.train.arm = networks::Arm::interpretable;
  recipe.train.epochs = epochs;
  recipe.train.optimizer = training::UpdateRule::sgd;
  recipe.train.learning_rate = 0.01;
  recipe.train.init = PARTWISE_SOURCE_DIR "/backbones/tiny.safetensors";
  recipe.train.seed = path.seed;
  recipe.train.validation_images = 30;
  std::optional<parts::ComposedOperators> reference;
  if (path.composed) reference.emplace();
  at::set_num_threads(path.threads);
  const auto run = training::claim_run(folder / path.name, recipe, {});
  training::train(run, data, {.threads = path.threads});
  return run.folder.log();
}

}  // namespace

int main(int argc, char** argv) try {
  ensure(argc >= 2 && argc <= 4, "usage: training_paths FOLDER [EPOCHS] [IMAGES]");
  const fs::path folder = argv[1];
  const int64_t epochs = argc > 2 ? std::stol(argv[2]) : 6;
  datasets::SyntheticOptions options;
  options.images = argc > 3 ? std::stol(argv[3]) : 100;
  const auto data = datasets::write_synthetic_animals(folder / "data", options, 2);
  const std::vector<Path> paths{{"kernels", 1, false},
                                {"composed", 1, true},
                                {"composed-one-thread", 1, true, 1},
                                {"other-seed", 2, false}};
  std::printf(
      "| path | epoch | loss | train accuracy | validation accuracy | filter loss | seconds |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const auto& path : paths) {
    for (const auto& row : train(path, data, folder, epochs)) {
      std::printf("| %s | %d | %.6f | %.4f | %.4f | %.6f | %.1f |\n", path.name,
                  row.at("epoch").get<int>(), row.at("loss").get<double>(),
                  row.at("train_accuracy").get<double>(),
                  row.at("validation").at("accuracy").get<double>(),
                  row.at("layers").at(1).at("loss").get<double>(), row.at("seconds").get<double>());
    }
  }
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}
