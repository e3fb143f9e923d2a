#include "partwise/training/rates.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

namespace partwise::training {
namespace {

std::map<std::string, double> factors(const std::string& rates,
                                      networks::Arm arm = networks::Arm::interpretable) {
  TrainOptions options;
  options.backbone_rate = 0.1;
  options.rates = rates;
  return rate_factors(options, networks::build_architecture("vgg-m", arm, 2));
}

// Test 13: which parameter learns how fast, by name.
TEST(Rates, AreTheBackbonesUpToItsTopAndOneBehindIt) {
  const auto plain = factors("");
  EXPECT_EQ(plain.size(), 18U);  // conv1 to conv5, new, fc1, fc2, out: weight and bias each
  EXPECT_EQ(plain.at("conv1.weight"), 0.1);
  EXPECT_EQ(plain.at("conv5.bias"), 0.1);
  EXPECT_EQ(plain.at("new.weight"), 1.0);
  EXPECT_EQ(plain.at("out.bias"), 1.0);
}

TEST(Rates, ByNameGoToTheLayerTheParameterOrAllThatFitAndTheLastCounts) {
  const auto named = factors("new=10, fc*=5,*.bias=2, conv5.bias=7");
  EXPECT_EQ(named.at("new.weight"), 10.0);
  EXPECT_EQ(named.at("new.bias"), 2.0);
  EXPECT_EQ(named.at("fc1.weight"), 5.0);
  EXPECT_EQ(named.at("conv5.bias"), 7.0);
  EXPECT_EQ(named.at("conv5.weight"), 0.1);
  EXPECT_EQ(named.at("out.weight"), 1.0);
}

TEST(Rates, OfALayerThatOtherArmsHaveArePassedOver) {
  EXPECT_FALSE(factors("new=10", networks::Arm::ordinary).contains("new.weight"));
}

TEST(Rates, ThatFitNothingOrAreNoRatesAreRefused) {
  for (const char* wrong : {"new", "=3", "new=fast", "new=-1", "cnov5=2", "new=1;fc1=2"}) {
    EXPECT_THROW(factors(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace partwise::training
