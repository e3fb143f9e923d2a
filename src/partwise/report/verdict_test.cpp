#include "partwise/report/verdict.h"

#include "partwise/base/names.h"
#include "partwise/base/random.h"
#include "partwise/report/html.h"
#include "partwise/report/terminal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace partwise::report {
namespace {

Finding around(double value, double half, std::map<std::string, double> controls = {}) {
  return {value, value - half, value + half, std::move(controls)};
}

RunFindings run(const std::string& arm, double accuracy, double purity, double ratio) {
  RunFindings findings;
  findings.without_draws = "an older program measured it";
  findings.net = "tiny";
  findings.arm = arm;
  findings.split = "test";
  findings.rows = 360;
  findings.findings["accuracy"] = around(accuracy, 0.02, {{"majority_class", 0.17}});
  LayerFindings layer;
  layer.layer = "conv4";
  layer.role = findings::kTopLayer;
  layer.findings["purity"] = around(purity, 0.02, {{"uniform_map", 0.13}});
  layer.findings["instability_ratio"] = around(ratio, 0.05, {{"constant_filter", 1.0}});
  layer.findings["part_interpretability"] = around(0.5, 0.1);
  layer.findings["location_instability"] = around(0.08, 0.005, {{"constant_centre", 0.07}});
  findings.layers = {layer};
  return findings;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return contains(text, part); });
}

TEST(Claims, SayOfSeveralRunsOnlyWhatHoldsForEveryPair) {
  const auto purity = [](const std::vector<double>& method, const std::vector<double>& others) {
    std::vector<RunFindings> runs;
    for (const double value : others) runs.push_back(run("masked", 0.9, value, 0.9));
    for (const double value : method) runs.push_back(run("interpretable", 0.9, value, 0.9));
    for (const Claim& claim : claims(runs)) {
      if (claim.metric->key == std::string("purity") && !claim.is_control) return claim.relation;
    }
    return Relation::undefined;
  };
  EXPECT_EQ(purity({0.8, 0.9}, {0.4, 0.5}), Relation::higher);
  EXPECT_EQ(purity({0.8, 0.9}, {0.4, 0.82}), Relation::indistinct);
  EXPECT_EQ(purity({0.4, 0.5}, {0.8, 0.9}), Relation::lower);
  EXPECT_EQ(purity({0.8, 0.9}, {0.4, std::nan("")}), Relation::undefined);
}

// The draws of two runs on the same images: rows of large effect, filters of little.
RunFindings with_draws(RunFindings found) {
  found.without_draws = "";
  found.data_hash = "abc";
  found.options = {{"resamples", 200}, {"bootstrap_seed", 1}};
  Random random(found.arm.size());
  const auto add = [&](Finding& finding) {
    Random rows(7);
    for (int i = 0; i < 200; ++i) {
      const double row = 0.03 * rows.normal();
      finding.draws.own.push_back(finding.value + row + 0.004 * random.normal());
      finding.draws.partner.push_back(finding.value + row + 0.004 * random.normal());
    }
  };
  for (auto& [key, finding] : found.findings) add(finding);
  for (auto& layer : found.layers) {
    for (auto& [key, finding] : layer.findings) add(finding);
  }
  return found;
}

TEST(Claims, AreWhatCompareSaysOfTheSameRuns) {
  const std::vector<findings::NamedFindings> named{
      {"ordinary", with_draws(run("ordinary", 0.93, 0.50, 0.93))},
      {"masked", with_draws(run("masked", 0.955, 0.52, 0.9))},
      {"interpretable", with_draws(run("interpretable", 0.96, 0.53, 0.9))}};
  std::vector<RunFindings> runs;
  for (const auto& one : named) runs.push_back(one.findings);
  const auto all = claims(runs);
  int compared = 0;
  int told_apart = 0;
  for (std::size_t other = 0; other < 2; ++other) {
    for (const bool swapped : {false, true}) {
      const auto numbers = swapped ? compare_runs(named[2], named[other], {})
                                   : compare_runs(named[other], named[2], {});
      for (const auto& number : numbers) {
        const auto claim = std::find_if(all.begin(), all.end(), [&](const Claim& one) {
          return one.metric->key == number.key && one.role == number.role &&
                 one.other == named[other].name && !one.is_control;
        });
        ASSERT_NE(claim, all.end()) << number.key;
        const double sign = swapped ? -1.0 : 1.0;
        EXPECT_EQ(claim->difference, sign * number.comparison.difference);
        EXPECT_EQ(claim->low, swapped ? -number.comparison.high : number.comparison.low);
        EXPECT_EQ(claim->high, swapped ? -number.comparison.low : number.comparison.high);
        EXPECT_TRUE(number.comparison.paired);
        const auto mirrored = [&](Relation said) {
          if (!swapped) return said;
          return said == Relation::higher  ? Relation::lower
                 : said == Relation::lower ? Relation::higher
                                           : said;
        };
        EXPECT_EQ(claim->relation, mirrored(relation(number.comparison))) << number.key;
        ++compared;
        told_apart += claim->relation == Relation::higher ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(compared, 2 * 2 * 5);
  EXPECT_GE(told_apart, 2);  // though the intervals of both overlap
}

TEST(Verdict, SaysWhetherImagesCancel) {
  const auto older = run("ordinary", 0.97, 0.41, 0.95);
  const std::vector apart = {older, run("interpretable", 0.96, 0.78, 0.6)};
  EXPECT_TRUE(contains(verdict(apart).basis, "an older program measured it"));
  const std::vector paired = {with_draws(older), with_draws(apart[1])};
  EXPECT_TRUE(contains(verdict(paired).basis, "drawn on the same images"));
}

// What the three sentences say.
std::string said(const std::vector<RunFindings>& runs) {
  const auto words = verdict(runs);
  EXPECT_EQ(words.sentences.size(), 3U);
  return join(words.sentences, " ");
}

// Its part interpretability, beside a control.
RunFindings with_parts(RunFindings found, double value, double half, double centre) {
  found.layers.back().findings["part_interpretability"] =
      around(value, half, {{"constant_centre", centre}, {"shuffled_images", 0.1}});
  return found;
}

TEST(Verdict, SaysWhatTheNetworkGetsRightAgainstItsHardestControl) {
  auto method = run("interpretable", 0.96, 0.78, 0.6);
  method.findings["accuracy"].controls["chance"] = 0.1;
  EXPECT_TRUE(
      contains(said({method}),
               "The interpretable network decides right on 96.0\u00A0% [94.0, 98.0] of 360 "
               "images of the split “test”: better than its hardest control, majority class "
               "(17.0\u00A0%)."))
      << said({method});
  method.training_images = 0;
  EXPECT_TRUE(contains(said({method}), "360 images it was not trained on"));
  method.training_images = 200;
  EXPECT_TRUE(contains(said({method}), "360 images, 200 of them training images"));
  EXPECT_TRUE(contains(said({run("interpretable", 0.18, 0.78, 0.6)}),
                       "not distinguishable from its hardest control, majority class"));
}

TEST(Verdict, SaysThatFiltersHitTheirPartOnlyBeyondTheirHardestControl) {
  const auto method = run("interpretable", 0.96, 0.78, 0.6);
  const auto beyond = said({with_parts(method, 0.5, 0.05, 0.4)});
  EXPECT_TRUE(
      contains(beyond,
               "Its filters in the top layer of the backbone hit their part more often than what "
               "knows nothing of it: part interpretability 0.500 [0.450, 0.550], better than their "
               "hardest control, constant centre (0.400)."))
      << beyond;
  for (const double centre : {0.46, 0.7}) {
    const auto not_shown = said({with_parts(method, 0.5, 0.05, centre)});
    EXPECT_TRUE(contains(not_shown, "are not shown to hit their part more often")) << not_shown;
    EXPECT_FALSE(contains(not_shown, "better than their")) << not_shown;
  }
}

TEST(Verdict, SaysOfEveryLayerWhetherItHolds) {
  auto method = with_parts(run("interpretable", 0.96, 0.78, 0.6), 0.36, 0.05, 0.38);
  auto layer = with_parts(method, 0.44, 0.03, 0.39).layers.front();
  layer.role = findings::kNewLayer;
  method.layers.push_back(layer);
  EXPECT_TRUE(
      contains(said({method}),
               "in the new layer hit their part more often than what knows nothing of it: part "
               "interpretability 0.440 [0.410, 0.470], better than their hardest control, "
               "constant centre (0.390); but in the top layer of the backbone: 0.360 "
               "[0.310, 0.410], not distinguishable from 0.380."))
      << said({method});
}

TEST(Verdict, FallsBackOnPurityWhereTheDataNamesNoParts) {
  auto method = run("interpretable", 0.96, 0.78, 0.6);
  method.layers[0].findings.erase("part_interpretability");
  EXPECT_TRUE(
      contains(said({method}),
               "Whether its filters stand for parts cannot be said, as the data names none; "
               "in the top layer of the backbone they are more concentrated than what knows "
               "nothing of the object: purity 0.780"))
      << said({method});
  method.layers.clear();
  EXPECT_TRUE(contains(said({method}), "What its filters stand for was not measured."));
}

TEST(Verdict, SaysWhatThatCostsInAccuracy) {
  const auto method = run("interpretable", 0.96, 0.78, 0.6);
  const auto against = [&](double accuracy) {
    return said({run("ordinary", accuracy, 0.41, 0.95), run("masked", 0.9, 0.45, 0.9), method});
  };
  EXPECT_TRUE(contains(against(0.97),
                       "A cost in accuracy is not shown: −1.0 points [−3.8, +1.8] "
                       "against the ordinary network, not distinguishable."))
      << against(0.97);
  EXPECT_TRUE(contains(against(0.999), "That costs accuracy: −3.9 points")) << against(0.999);
  EXPECT_TRUE(contains(against(0.80), "That costs no accuracy: +16.0 points")) << against(0.80);
  EXPECT_TRUE(contains(said({method}), "no other kind of network that was measured alike"));
}

TEST(Verdict, SurvivesMissingNumbersLayersAndRuns) {
  EXPECT_FALSE(verdict({}).sentences.empty());
  auto undefined = run("interpretable", 0.96, 0.78, 0.6);
  undefined.findings["accuracy"] = around(std::nan(""), 0.0);
  undefined.layers[0].findings["part_interpretability"] = around(std::nan(""), 0.0);
  undefined.layers[0].findings["purity"] = around(std::nan(""), 0.0);
  const auto words = said({run("ordinary", 0.97, 0.41, 0.95), undefined});
  EXPECT_TRUE(contains(words, "an interval is missing")) << words;
  EXPECT_TRUE(contains(words, "was not measured")) << words;
}

TEST(Verdict, KeepsAnUnknownArmFromBecomingTheMethod) {
  EXPECT_TRUE(contains(said({run("my own", 0.97, 0.41, 0.95), run("masked", 0.96, 0.78, 0.6)}),
                       "The masked network decides right"));
}

TEST(Claims, CoverEveryArmAndControl) {
  const std::vector runs = {run("ordinary", 0.97, 0.41, 0.95), run("masked", 0.97, 0.45, 0.9),
                            run("interpretable", 0.96, 0.78, 0.6)};
  const auto all = claims(runs);
  const auto find = [&](const std::string& key, const std::string& other) {
    return std::find_if(all.begin(), all.end(), [&](const Claim& claim) {
      return claim.metric->key == key && claim.other == other;
    });
  };
  ASSERT_NE(find("purity", "masked"), all.end());
  EXPECT_EQ(judgement(*find("purity", "masked")), "better");
  EXPECT_NEAR(find("purity", "masked")->difference, 0.33, 1e-12);
  ASSERT_NE(find("purity", "uniform map"), all.end());
  EXPECT_TRUE(find("purity", "uniform map")->is_control);
  EXPECT_EQ(judgement(*find("location_instability", "constant centre")), "worse");
  EXPECT_EQ(judgement(*find("instability_ratio", "ordinary")), "better");
  EXPECT_TRUE(claims({}).empty());
}

TEST(ComparableGroups, KeepUnlikeRunsApart) {
  auto other_net = run("interpretable", 0.9, 0.9, 0.5);
  other_net.net = "alexnet";
  const std::vector runs = {run("ordinary", 0.97, 0.41, 0.95), other_net,
                            run("masked", 0.9, 0.5, 0.9)};
  const auto groups = comparable_groups(runs);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].size(), 2U);
  EXPECT_TRUE(any_contains(warnings(runs), "only runs that agree"));
}

TEST(Warnings, PointAtSilentFiltersUnservedCategoriesAndSilentImages) {
  auto quiet = run("interpretable", 0.9, 0.78, 0.6);
  auto& layer = quiet.layers[0];
  layer.filters = 80;
  layer.filters_per_category = {{"cat", 0}, {"dog", 3}, {"fox", 77}};
  layer.findings["silent_share"] = around(0.25, 0.05);
  layer.findings["smallest_category_share"] = around(0.0, 0.0);
  EXPECT_TRUE(silence_warnings(quiet, layer).empty());
  layer.findings["silent_share"] = around(0.525, 0.1);
  layer.findings["smallest_category_share"].facts["unserved"] = {"cat", "dog"};
  layer.findings["purity"].facts["silent_rows"] = 0.4;
  EXPECT_EQ(silence_warnings(quiet, layer).size(), 4U);
  const auto all = warnings(std::vector{quiet});
  EXPECT_TRUE(any_contains(all, "52.5\u00A0% of the filters of interpretable at conv4 are silent"));
  EXPECT_TRUE(any_contains(all, "cat has none of the 80 filters of interpretable at conv4"));
  EXPECT_TRUE(any_contains(all, "dog has 3 of the 80 filters"));
  EXPECT_TRUE(any_contains(all, "On 40.0\u00A0% of the images nothing fires"));
  layer.findings["purity"].value = std::nan("");
  EXPECT_TRUE(any_contains(silence_warnings(quiet, layer), "it has no purity"));
  const std::vector<findings::NamedFindings> named{{"quiet", quiet}};
  EXPECT_NE(warning_lines(named).find("warning: cat has none"), std::string::npos);
}

TEST(Warnings, PointAtDeadFiltersLeaksAndUntrainedNetworks) {
  auto sick = run("interpretable", 0.18, 0.78, 0.6);
  sick.layers[0].dead_share = 0.4;
  sick.split = "all";
  sick.rows = 20;
  sick.layers[0].findings.erase("purity");
  const auto all = warnings(std::vector{sick});
  EXPECT_TRUE(any_contains(all, "40.0\u00A0% of the filters of interpretable at conv4 never fire"));
  EXPECT_TRUE(any_contains(all, "was trained on some of the 20 images measured of interpretable"));
  EXPECT_TRUE(any_contains(all, "does not classify better than always answering"));
  EXPECT_TRUE(any_contains(all, "Only 20 images"));
  EXPECT_TRUE(any_contains(all, "Purity of interpretable at conv4 is not defined"));
  EXPECT_TRUE(any_contains(all, "Each arm was trained once"));
  EXPECT_TRUE(any_contains(all, "missing: ordinary, ordinary+layer, masked"));
}

}  // namespace
}  // namespace partwise::report
