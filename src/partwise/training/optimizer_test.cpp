#include "partwise/training/optimizer.h"

#include "partwise/tensors/torch.h"
#include "partwise/training/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::training {
namespace {

Tensor with_gradient(double value, double gradient) {
  auto parameter = torch::full({1}, value, torch::kFloat64).requires_grad_();
  parameter.mutable_grad() = torch::full({1}, gradient, torch::kFloat64);
  return parameter;
}

TEST(Optimizer, SgdTakesTwoStepsAsByHand) {
  auto weight = with_gradient(1.0, 0.5);
  Optimizer optimizer(UpdateRule::sgd, 0.1, {{"a.weight", weight}});
  optimizer.step(0.2);  // v = 0.5 + 0.1 = 0.6; w = 1 - 0.12
  EXPECT_NEAR(weight.item<double>(), 0.88, 1e-12);
  optimizer.step(0.2);  // v = 0.54 + 0.5 + 0.088
  EXPECT_NEAR(weight.item<double>(), 0.88 - 0.2 * 1.128, 1e-12);
}

TEST(Optimizer, AdamwsFirstStepIsTheRateInTheGradientsDirection) {
  auto weight = with_gradient(1.0, 3.0);
  auto bias = with_gradient(1.0, -3.0);
  Optimizer optimizer(UpdateRule::adamw, 0.1, {{"a.weight", weight}, {"a.bias", bias}});
  optimizer.step(0.01);
  EXPECT_NEAR(weight.item<double>(), 1.0 - 0.01 * 0.1 - 0.01, 1e-9);
  EXPECT_NEAR(bias.item<double>(), 1.01, 1e-9);  // not decayed
}

// Test 13: old weights and a new head learn at rates of their own, by name.
TEST(Optimizer, TakesEachParametersRateByItsName) {
  for (const auto rule : values_of<UpdateRule>()) {
    std::map<std::string, Tensor> parameters;
    for (const char* name : {"old.weight", "frozen.weight", "new.weight"}) {
      parameters[name] = torch::ones({1}).requires_grad_();
    }
    Optimizer optimizer(rule, 0.1, parameters);
    optimizer.set_rate("old.weight", 0.25);
    optimizer.set_rate("frozen.weight", 0.0);
    for (auto& [name, parameter] : parameters) parameter.mutable_grad() = torch::full({1}, 2.0);
    optimizer.step(0.1);
    const auto moved = [&](const char* name) { return 1.0 - parameters[name].item<double>(); };
    EXPECT_NEAR(moved("old.weight"), 0.25 * moved("new.weight"), 1e-6) << word_of(rule);
    EXPECT_EQ(moved("frozen.weight"), 0.0) << word_of(rule);
    EXPECT_GT(moved("new.weight"), 0.05) << word_of(rule);
  }
}

TEST(Optimizer, LimitsTheCommonNormAndLeavesSmallGradientsAlone) {
  auto a = with_gradient(0.0, 3.0);
  auto b = with_gradient(0.0, 4.0);
  Optimizer optimizer(UpdateRule::sgd, 0.0, {{"a.weight", a}, {"b.weight", b}});
  EXPECT_NEAR(optimizer.gradient_norm().item<double>(), 5.0, 1e-12);
  optimizer.limit_gradients(5.0, 10.0);
  EXPECT_EQ(a.grad().item<double>(), 3.0);
  optimizer.limit_gradients(5.0, 1.0);
  EXPECT_NEAR(a.grad().item<double>(), 0.6, 1e-7);
  EXPECT_NEAR(b.grad().item<double>(), 0.8, 1e-7);
}

TEST(Schedule, RisesThenFallsToZero) {
  EXPECT_LT(warmup_cosine(0, 100, 0.1), 0.2);
  EXPECT_NEAR(warmup_cosine(10, 100, 0.1), 1.0, 1e-12);
  EXPECT_NEAR(warmup_cosine(55, 100, 0.1), 0.5, 1e-12);
  EXPECT_NEAR(warmup_cosine(100, 100, 0.1), 0.0, 1e-12);
}

TEST(Schedule, OfTheRateFollowsItsName) {
  TrainOptions options;
  options.epochs = 50;
  options.warmup = 0.0;
  options.rate_epochs = 10;
  const auto factor = [&](RateSchedule schedule, int64_t epoch, int64_t step = 0) {
    options.rate_schedule = schedule;
    return rate_factor(options, epoch, step, 8);
  };
  EXPECT_EQ(factor(RateSchedule::cosine, 20, 3), warmup_cosine(163, 400, 0.0));
  EXPECT_EQ(factor(RateSchedule::constant, 49), 1.0);
  EXPECT_EQ(factor(RateSchedule::log, 0), 1.0);  // the release: ten epochs of logspace(-4, -5, 10)
  EXPECT_NEAR(factor(RateSchedule::log, 3), std::pow(10.0, -3.0 / 9.0), 1e-12);
  EXPECT_EQ(factor(RateSchedule::log, 3), factor(RateSchedule::log, 3, 7));
  EXPECT_NEAR(factor(RateSchedule::log, 9), 0.1, 1e-12);
  EXPECT_NEAR(factor(RateSchedule::log, 49), 0.1, 1e-12);
  EXPECT_EQ(factor(RateSchedule::steps, 9), 1.0);
  EXPECT_NEAR(factor(RateSchedule::steps, 20), 0.01, 1e-12);
  options.warmup = 0.5;
  EXPECT_LT(factor(RateSchedule::constant, 0), 0.01);
  EXPECT_EQ(factor(RateSchedule::constant, 25), 1.0);
}

TEST(Schedule, OfTheStrengthFollowsItsName) {
  parts::PartOptions options;
  const auto factor = [&](parts::StrengthSchedule schedule, int64_t epoch) {
    options.schedule = schedule;
    return strength_factor(options, epoch, 8);
  };
  EXPECT_EQ(factor(parts::StrengthSchedule::constant, 7), 1.0);
  EXPECT_EQ(factor(parts::StrengthSchedule::inverse, 3), 0.25);
  EXPECT_EQ(factor(parts::StrengthSchedule::linear, 0), 1.0);
  EXPECT_EQ(factor(parts::StrengthSchedule::linear, 6), 0.25);
}

TEST(MaskShare, RisesEvenlyAndStays) {
  parts::PartOptions options;
  EXPECT_EQ(mask_share(options, 0, 100), 1.0);
  options.mask_warmup = 0.2;
  EXPECT_EQ(mask_share(options, 0, 100), 0.0);
  EXPECT_DOUBLE_EQ(mask_share(options, 5, 100), 0.25);
  EXPECT_EQ(mask_share(options, 20, 100), 1.0);
  EXPECT_EQ(mask_share(options, 99, 100), 1.0);
}

}  // namespace
}  // namespace partwise::training
