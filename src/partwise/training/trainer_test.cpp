#include "partwise/training/trainer.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/tensors/safetensors.h"
#include "partwise/tensors/torch.h"
#include "partwise/training/examples.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::training {
namespace {

namespace fs = std::filesystem;

class Trainer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    datasets::SyntheticOptions options;
    options.images = 12;
    options.categories = 2;
    options.size = 64;
    data = datasets::write_synthetic_animals(root() / "data", options, 2);
  }
  static void TearDownTestSuite() { fs::remove_all(root()); }
  static fs::path root() { return fs::path(testing::TempDir()) / "partwise-trainer-test"; }

  static Recipe recipe(const std::string& arm, int64_t epochs) {
    Recipe recipe;
    recipe.train.arm = arm;
    recipe.train.epochs = epochs;
    recipe.train.batch = 4;
    return recipe;
  }
  static std::map<std::string, Tensor> trained(const std::string& name, const Recipe& recipe) {
    const auto run = runs::RunFolder::create(root() / name, to_json(recipe), {});
    train(run, data, {});
    return load_network(run, make_task(recipe.train, data)).state();
  }
  static void expect_equal(const std::map<std::string, Tensor>& a,
                           const std::map<std::string, Tensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, tensor] : a) EXPECT_TRUE(torch::equal(tensor, b.at(name))) << name;
  }

  static datasets::PartDataset data;
};
datasets::PartDataset Trainer::data;

TEST_F(Trainer, TheSameSeedGivesTheSameWeightsBitForBit) {
  expect_equal(trained("a", recipe("interpretable", 2)), trained("b", recipe("interpretable", 2)));
}

TEST_F(Trainer, ZeroStrengthIsTheMaskedArmBitForBit) {
  auto silent = recipe("interpretable", 2);
  silent.parts.strength = 0.0;
  expect_equal(trained("silent", silent), trained("masked", recipe("masked", 2)));
}

// The run's folder is put back to what it was after the first epoch, then trained on.
TEST_F(Trainer, AResumedRunEqualsTheUninterruptedOne) {
  const auto three = recipe("interpretable", 3);
  const auto whole = trained("whole", three);
  const auto folder = root() / "whole";
  const auto log = runs::RunFolder::open(folder).log();
  ASSERT_EQ(log.size(), 3U);
  fs::rename(folder / "checkpoints" / "previous.safetensors",
             folder / "checkpoints" / "last.safetensors");  // epoch 2
  expect_equal(whole, trained("whole", three));
  auto again = runs::RunFolder::open(folder).log();
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(again[2].at("loss"), log[2].at("loss"));
}

TEST_F(Trainer, InBfloat16KeepsWeightsAndStatisticsInFloat32) {
  auto rounded = recipe("interpretable", 2);
  rounded.train.precision = "bf16";
  for (const auto& [name, tensor] : trained("rounded", rounded)) {
    EXPECT_EQ(tensor.scalar_type(), torch::kFloat32) << name;
    EXPECT_TRUE(torch::isfinite(tensor).all().item<bool>()) << name;
  }
}

TEST_F(Trainer, StartsFromAnotherRunsBackboneAndNothingElse) {
  const auto backbone = trained("backbone", recipe("ordinary", 1));
  auto next = recipe("masked", 1);
  next.train.init = (root() / "backbone").string();
  next.train.learning_rate = 0.0;
  next.train.weight_decay = 0.0;
  const auto weights = trained("next", next);
  EXPECT_TRUE(torch::equal(weights.at("conv4.weight"), backbone.at("conv4.weight")));
  EXPECT_FALSE(torch::equal(weights.at("out.weight"), backbone.at("out.weight")));
}

TEST_F(Trainer, ALossThatIsNotFiniteStopsWithItsPlace) {
  auto broken = trained("sound", recipe("ordinary", 1));
  for (auto& [name, tensor] : broken) tensor.detach_().fill_(std::nan(""));
  tensors::save_tensors(root() / "nan.safetensors", {broken, {}});
  auto wild = recipe("ordinary", 2);
  wild.train.init = (root() / "nan.safetensors").string();
  try {
    trained("wild", wild);
    FAIL() << "expected training to stop";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("epoch 1, step 1"), std::string::npos) << error.what();
  }
}

TEST_F(Trainer, AugmentationFlipsAndShiftsWithoutInventingColours) {
  const auto task = make_task(recipe("ordinary", 1).train, data);
  const auto examples = load_examples(data, task, "train", 32, 2);
  const auto once = augmented(examples.pixels, 3, 7);
  EXPECT_TRUE(torch::equal(once, augmented(examples.pixels, 3, 7)));
  EXPECT_FALSE(torch::equal(once, augmented(examples.pixels, 3, 8)));
  const auto still = augmented(examples.pixels, 0, 7);
  for (int64_t i = 0; i < still.size(0); ++i) {
    const auto original = examples.pixels[i];
    EXPECT_TRUE(torch::equal(still[i], original) || torch::equal(still[i], original.flip({2})));
  }
}

}  // namespace
}  // namespace partwise::training
