#include "partwise/parts/toy_maps_fixture.h"

#include <gtest/gtest.h>

namespace partwise::parts {
namespace {

// Test 7, the toy table; bench/toy_table.cpp prints the whole of it.
PartOptions as_published(Rule rule) {
  auto options = method_options(Method::paper);
  options.rule = rule;
  return options;
}

TEST(ToyMaps, BecomePureUnderTheDefaultRuleAtEveryScaleAndNegativesFallSilent) {
  for (const double scale : {1e-3, 1.0, 10.0, 100.0, 1e4}) {
    for (const uint64_t seed : {1, 2, 3}) {
      const auto outcome = move_free_maps({}, scale, seed);
      EXPECT_LT(outcome.purity_before, 0.5);
      EXPECT_GT(outcome.purity, 0.99) << scale;
      EXPECT_LT(outcome.loudest_negative, 0.1) << scale;
    }
  }
}

TEST(ToyMaps, UnderThePublishedRulesLoseWhatTheyGainAsTheScaleGrows) {
  for (const auto rule : {Rule::paper, Rule::release}) {
    EXPECT_GT(move_free_maps(as_published(rule), 1.0, 1).purity, 0.99) << word_of(rule);
    EXPECT_LT(move_free_maps(as_published(rule), 100.0, 1).purity, 0.8) << word_of(rule);
  }
}

TEST(ToyMaps, GetLessPureUnderTheSignThePaperPrints) {
  const auto outcome = move_free_maps(as_published(Rule::paper), 1.0, 1, /*ascend=*/true);
  EXPECT_LT(outcome.purity, 0.75 * outcome.purity_before);
}

TEST(ToyMaps, AreHardlyPurifiedByMutualInformationAloneWhichRaisesNegatives) {
  for (const double scale : {1.0, 10.0, 100.0}) {
    const auto outcome = move_free_maps(as_published(Rule::exact), scale, 1);
    EXPECT_LT(outcome.purity, 0.75) << scale;
    EXPECT_GT(outcome.loudest_negative, 1.2) << scale;
  }
}

}  // namespace
}  // namespace partwise::parts
