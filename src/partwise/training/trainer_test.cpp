#include "partwise/training/trainer.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/models/model.h"
#include "partwise/networks/tensor_file.h"
#include "partwise/tensors/torch.h"
#include "partwise/training/early_stop.h"
#include "partwise/training/training_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unistd.h>

namespace partwise::training {
namespace {

namespace fs = std::filesystem;
using models::Loss;
using networks::Arm;

class Trainer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    datasets::SyntheticOptions options;
    options.images = 12;
    options.categories = 2;
    options.size = 64;
    data = datasets::write_synthetic_animals(root() / "data", options, 2);
  }
  static void TearDownTestSuite() { remove_folder(root()); }
  static fs::path root() {  // every test may be a process of its own
    return fs::path(testing::TempDir()) / fmt::format("partwise-trainer-test-{}", ::getpid());
  }

  static Recipe recipe(Arm arm, int64_t epochs) {
    Recipe recipe;
    recipe.train.arm = arm;
    recipe.train.epochs = epochs;
    recipe.train.batch = 4;
    return recipe;
  }
  static std::map<std::string, Tensor> trained(const std::string& name, const Recipe& recipe) {
    const auto run = claim_run(root() / name, recipe, {});
    train(run, data, {});
    return models::open_model(run.folder).network.state();
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
  expect_equal(trained("a", recipe(Arm::interpretable, 2)),
               trained("b", recipe(Arm::interpretable, 2)));
}

TEST_F(Trainer, ZeroStrengthIsTheMaskedArmBitForBit) {
  auto silent = recipe(Arm::interpretable, 2);
  silent.parts.strength = 0.0;
  expect_equal(trained("silent", silent), trained("masked", recipe(Arm::masked, 2)));
}

// The run's folder is put back to what it was after the first epoch, then trained on.
TEST_F(Trainer, AResumedRunEqualsTheUninterruptedOne) {
  const auto three = recipe(Arm::interpretable, 3);
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

// As it was one step before the end: in the middle of an epoch.
TEST_F(Trainer, ARunResumedInsideAnEpochEqualsTheUninterruptedOne) {
  auto stepwise = recipe(Arm::interpretable, 2);
  stepwise.parts.rule = parts::Rule::paper;
  stepwise.train.checkpoint_minutes = 0.0;
  stepwise.train.validation_images = 6;
  const auto whole = trained("stepwise", stepwise);
  const auto run = runs::RunFolder::open(root() / "stepwise");
  auto log = run.log();
  fs::rename(run.checkpoints() / "previous.safetensors", run.checkpoints() / "last.safetensors");
  const auto before = models::newest_checkpoint(run)->position;
  EXPECT_EQ(before.epoch, 1);
  EXPECT_GT(before.step, 0);
  expect_equal(whole, trained("stepwise", stepwise));
  auto again = run.log();
  ASSERT_EQ(again.size(), log.size());
  for (auto* rows : {&log, &again}) {
    for (auto& row : *rows) row.erase("seconds");
  }
  EXPECT_EQ(again, log);
}

// Killed when its last checkpoint was written but not yet in its place.
TEST_F(Trainer, AFinishedRunsLastCheckpointIsPutInItsPlace) {
  trained("unsettled", recipe(Arm::masked, 2));
  const auto folder = runs::RunFolder::open(root() / "unsettled").checkpoints();
  const auto last = read_file(folder / "last.safetensors");
  fs::rename(folder / "last.safetensors", folder / "next.safetensors");
  fs::rename(folder / "previous.safetensors", folder / "last.safetensors");
  trained("unsettled", recipe(Arm::masked, 2));
  EXPECT_EQ(read_file(folder / "last.safetensors"), last);
  EXPECT_FALSE(fs::exists(folder / "next.safetensors"));
}

TEST_F(Trainer, StopsEarlyAndKeepsTheBestEpoch) {
  auto options = recipe(Arm::masked, 40);
  options.train.validation_images = 6;
  options.train.stop_on = StopMetric::accuracy;
  options.train.patience = 2;
  trained("early", options);
  const auto run = runs::RunFolder::open(root() / "early");
  const auto log = run.log();
  const auto verdict = judge_epochs(log, StopMetric::accuracy, 2);
  ASSERT_LT(log.size(), 40U);
  EXPECT_EQ(std::ssize(log), verdict.best_epoch + 2);
  EXPECT_TRUE(is_trained({run, options}));
  EXPECT_EQ(models::open_model(run, "best").position.epoch, verdict.best_epoch);
  const auto& seen = log.front().at("validation");
  EXPECT_EQ(seen.at("images"), 6);
  ASSERT_EQ(seen.at("layers").size(), 2U);
  for (const auto& layer : seen.at("layers")) {
    EXPECT_GT(layer.at("purity"), 0.0);
    EXPECT_TRUE(layer.at("instability_ratio").is_number());
    EXPECT_GE(layer.at("dead_share"), 0.0);
    EXPECT_GE(layer.at("silent_share"), layer.at("dead_share"));
    EXPECT_GT(layer.at("effective_filters"), 0.0);
    EXPECT_EQ(layer.at("filters_per_category").size(), 2U);
  }
  trained("early", options);
  EXPECT_EQ(run.log(), log);
}

TEST_F(Trainer, RunsAreComparedByWhatIsInForce) {
  const auto masked = recipe(Arm::masked, 1);
  EXPECT_EQ(claim_run(root() / "claimed", masked, {}).folder.options().at("strength"), 0.0);
  auto older = to_json(masked);  // as an older program wrote it
  older.erase("method");
  EXPECT_EQ(older.at("strength"), 0.03);
  runs::RunFolder::create(root() / "older", older, {});
  EXPECT_EQ(claim_run(root() / "older", masked, {}).folder.options(), older);
  EXPECT_THROW(claim_run(root() / "older", recipe(Arm::interpretable, 1), {}), Error);
  auto named = recipe(Arm::interpretable, 1);
  named.parts = parts::method_options(parts::Method::release);
  auto nameless = to_json(named);
  nameless.erase("method");
  runs::RunFolder::create(root() / "nameless", nameless, {});
  EXPECT_EQ(claim_run(root() / "nameless", named, {}).folder.options(), nameless);
}

TEST_F(Trainer, WhatCannotBeTrainedIsRefused) {
  auto watched = recipe(Arm::ordinary, 1);
  watched.train.stop_on = StopMetric::purity;
  EXPECT_THROW(require_trainable(watched, data), Error);
  watched.train.validation_images = 6;
  EXPECT_NO_THROW(require_trainable(watched, data));
  auto even = recipe(Arm::masked, 1);
  even.parts.new_kernel = 2;
  EXPECT_THROW(require_trainable(even, data), Error);
  auto foxes = data;
  const auto fox = foxes.categories.front().id;
  auto& ids = foxes.splits["train"];
  std::erase_if(ids, [&](int64_t id) {
    return std::none_of(foxes.annotations.begin(), foxes.annotations.end(), [&](const auto& one) {
      return one.image_id == id && one.category_id == fox;
    });
  });
  EXPECT_THROW(require_trainable(recipe(Arm::ordinary, 1), foxes), Error);
  auto binary = recipe(Arm::ordinary, 1);
  binary.train.loss = Loss::logistic;
  for (const auto& category : foxes.categories) {
    binary.train.task = "binary:" + category.name;
    EXPECT_THROW(require_trainable(binary, foxes), Error) << category.name;
    EXPECT_NO_THROW(require_trainable(binary, data)) << category.name;
  }
}

TEST_F(Trainer, InBfloat16KeepsWeightsAndStatisticsInFloat32) {
  auto rounded = recipe(Arm::interpretable, 2);
  rounded.train.precision = tensors::Precision::bf16;
  for (const auto& [name, tensor] : trained("rounded", rounded)) {
    EXPECT_EQ(tensor.scalar_type(), torch::kFloat32) << name;
    EXPECT_TRUE(torch::isfinite(tensor).all().item<bool>()) << name;
  }
}

TEST_F(Trainer, StartsFromAnotherRunsBackboneAndNothingElse) {
  const auto backbone = trained("backbone", recipe(Arm::ordinary, 1));
  auto next = recipe(Arm::masked, 1);
  next.train.init = (root() / "backbone").string();
  next.train.learning_rate = 0.0;
  next.train.weight_decay = 0.0;
  const auto weights = trained("next", next);
  EXPECT_TRUE(torch::equal(weights.at("conv4.weight"), backbone.at("conv4.weight")));
  EXPECT_FALSE(torch::equal(weights.at("out.weight"), backbone.at("out.weight")));
}

TEST_F(Trainer, EveryTaskTrainsInEveryArmWithClassesBalancedOrNot) {
  for (const auto arm : values_of<Arm>()) {
    auto asked = recipe(arm, 1);
    for (const std::string task : {"binary:fox", "multi"}) {
      for (const auto loss : values_of<Loss>()) {
        if (task != "multi" && loss == Loss::softmax) continue;
        asked.train.task = task;
        asked.train.loss = loss;
        asked.train.class_balance =
            loss == Loss::logistic ? ClassBalance::weights : ClassBalance::none;
        const auto name = fmt::format("every {} {} {}", word_of(arm), task, word_of(loss));
        for (const auto& [key, tensor] : trained(name, asked))
          EXPECT_TRUE(torch::isfinite(tensor).all().item<bool>()) << name << key;
      }
    }
  }
}

TEST_F(Trainer, ALayerWithRateZeroStaysAsItWasDrawn) {
  auto frozen = recipe(Arm::interpretable, 1);
  frozen.train.rates = "*=0, out=1";
  const auto drawn = models::draw_network(models::make_design(to_json(frozen), data)).state();
  const auto weights = trained("frozen", frozen);
  EXPECT_TRUE(torch::equal(weights.at("new.weight"), drawn.at("new.weight")));
  EXPECT_TRUE(torch::equal(weights.at("conv1.weight"), drawn.at("conv1.weight")));
  EXPECT_FALSE(torch::equal(weights.at("out.weight"), drawn.at("out.weight")));
}

TEST_F(Trainer, WeightsToStartFromThatAreNotFiniteAreRefusedByName) {
  auto broken = trained("sound", recipe(Arm::ordinary, 1));
  broken.at("conv2.weight").detach_().view(-1)[3] = std::nan("");
  networks::save_tensors(root() / "nan.safetensors", {broken, {}});
  auto wild = recipe(Arm::ordinary, 2);
  wild.train.init = (root() / "nan.safetensors").string();
  try {
    require_init(wild.train);
    FAIL() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'conv2.weight'"), std::string::npos) << error.what();
  }
}

TEST_F(Trainer, ALossThatIsNotFiniteStopsWithEpochStepAndLayer) {
  const auto two = recipe(Arm::interpretable, 2);
  trained("wild", two);
  const auto run = runs::RunFolder::open(root() / "wild");
  auto broken = models::load_checkpoint(run, "last");
  broken.position.epoch = 1;
  broken.tensors.at("conv3.weight").view(-1)[7] = std::numeric_limits<float>::infinity();
  models::save_checkpoint(run, broken);
  try {
    trained("wild", two);
    FAIL() << "expected training to stop";
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("in epoch 2, step 1;"), std::string::npos) << said;
    EXPECT_NE(said.find("first not finite: the weight of conv3;"), std::string::npos) << said;
  }
}

TEST_F(Trainer, AGradientThatIsNotFiniteIsFoundOnTheWayBack) {
  const auto options = recipe(Arm::interpretable, 1);
  auto network = models::draw_network(models::make_design(to_json(options), data));
  const auto side = network.architecture().input_side;
  const auto images = torch::zeros({2, 3, side, side});
  const auto category = torch::tensor({0, 1}, torch::kInt64);
  EXPECT_EQ(non_finite_place(network, images, category), "the loss itself");
  for (const char* name : {"conv1.weight", "conv3.weight"}) {
    auto& parameter = network.parameters().at(name);
    parameter.mutable_grad() = torch::full_like(parameter, std::nan(""));
  }
  EXPECT_EQ(non_finite_place(network, images, category), "the gradient of conv3");
}

}  // namespace
}  // namespace partwise::training
