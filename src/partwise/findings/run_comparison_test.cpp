#include "partwise/findings/run_comparison.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::findings {
namespace {

// 21 draws about the value; the partner's differ by a thousandth at the most.
Finding drawn(double value) {
  Finding finding{.value = value, .low = value - 0.1, .high = value + 0.1};
  for (int i = 0; i < 21; ++i) {
    const double row = 0.01 * (i % 7 - 3);
    finding.draws.own.push_back(value + row);
    finding.draws.partner.push_back(value + row + 0.001 * (i % 3 - 1));
  }
  return finding;
}

RunFindings run(const std::string& arm, double purity) {
  RunFindings found;
  found.net = "tiny";
  found.arm = arm;
  found.task = "multi";
  found.split = "test";
  found.data_hash = "abc";
  found.rows = 100;
  found.options = {{"resamples", 21}, {"bootstrap_seed", 1}, {"radius", 0.1}};
  found.findings["accuracy"] = drawn(0.9);
  found.layers.resize(1);
  found.layers[0].layer = "conv4";
  found.layers[0].role = kTopLayer;
  found.layers[0].findings["purity"] = drawn(purity);
  found.layers[0].findings["part_label_iou"] = drawn(0.3);
  return found;
}

std::string complaint(const RunFindings& a, const RunFindings& b, const Wanted& wanted = {}) {
  try {
    compare_runs({"runs/a", a}, {"runs/b", b}, wanted);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RunComparison, PairsDrawsOfTheSameImages) {
  const auto a = run("masked", 0.5);
  const auto b = run("interpretable", 0.55);
  EXPECT_EQ(why_not_paired(a, b), "");
  const auto paired = compare(a, b, kTopLayer, "purity");
  EXPECT_TRUE(paired.paired);
  EXPECT_EQ(relation(paired), metrics::Relation::higher);  // intervals of +-0.1 overlap
  EXPECT_NEAR(paired.low, 0.049, 1e-9);                    // the filters alone differ
}

TEST(RunComparison, OfTwoRunsIsMirroredWhenTheyAreSwapped) {
  const auto a = run("masked", 0.5);
  const auto b = run("interpretable", 0.55);
  const auto there = compare(a, b, kTopLayer, "purity");
  const auto back = compare(b, a, kTopLayer, "purity");
  EXPECT_EQ(back.difference, -there.difference);
  EXPECT_EQ(back.low, -there.high);
  EXPECT_EQ(back.high, -there.low);
}

TEST(RunComparison, TakesRunsForIndependentWhereDrawsCannotBePaired) {
  const auto a = run("masked", 0.5);
  const auto expect_independent = [&](const RunFindings& b, const std::string& reason) {
    EXPECT_TRUE(contains(why_not_paired(a, b), reason)) << why_not_paired(a, b);
    const auto comparison = compare(a, b, kTopLayer, "purity");
    EXPECT_FALSE(comparison.paired);
    EXPECT_NEAR(comparison.high - comparison.low, 2.0 * std::hypot(0.1, 0.1), 1e-9);
  };
  auto older = run("interpretable", 0.55);
  older.without_draws = "an older program measured it";
  expect_independent(older, "older program");
  auto seed = run("interpretable", 0.55);
  seed.options["bootstrap_seed"] = 2;
  expect_independent(seed, "bootstrap_seed (1 and 2)");
  auto nameless = run("interpretable", 0.55);
  nameless.data_hash = "";
  expect_independent(nameless, "same images");
  auto photographs = a;
  photographs.images_hash = "of these sizes";
  EXPECT_EQ(why_not_paired(a, photographs), "");  // an older program measured the other one
  auto others = photographs;
  others.images_hash = "of other sizes";
  EXPECT_TRUE(contains(why_not_paired(photographs, others), "image files"));
}

TEST(RunComparison, RefusesRunsThatWereMeasuredOtherwise) {
  const auto a = run("masked", 0.5);
  const auto changed = [](const auto& change) {
    auto b = run("interpretable", 0.6);
    change(b);
    return b;
  };
  EXPECT_EQ(complaint(a, run("interpretable", 0.6)), "accepted");
  const auto task = complaint(a, changed([](auto& b) { b.task = "binary:fox"; }));
  EXPECT_TRUE(contains(task, "task (multi and binary:fox)")) << task;
  const auto data = complaint(a, changed([](auto& b) { b.data_hash = "def"; }));
  EXPECT_TRUE(contains(data, "data they were measured on (abc and def)")) << data;
  EXPECT_TRUE(contains(data, "partwise measure runs/a runs/b")) << data;
  EXPECT_TRUE(contains(complaint(a, changed([](auto& b) { b.rows = 99; })), "100 and 99"));
  const auto option = complaint(a, changed([](auto& b) { b.options["radius"] = 0.2; }));
  EXPECT_TRUE(contains(option, "radius (0.1 and 0.2)")) << option;
}

TEST(RunComparison, SaysWhichCommandMeasuresWhatIsWanted) {
  const auto a = run("masked", 0.5);
  const auto split = complaint(a, a, {.split = "all", .data_hash = {}, .data = {}, .extras = {}});
  EXPECT_TRUE(contains(split, "runs/a: was measured on split 'test', not 'all'")) << split;
  EXPECT_TRUE(contains(split, "run: partwise measure runs/a --split all")) << split;
  const auto data = complaint(a, a, {.split = {}, .data_hash = "x", .data = "zoo", .extras = {}});
  EXPECT_TRUE(contains(data, "run: partwise measure runs/a --data zoo")) << data;
  const auto metric =
      complaint(a, a, {.split = {}, .data_hash = {}, .data = {}, .extras = {"patch_purity"}});
  EXPECT_TRUE(contains(metric, "partwise measure runs/a --metrics patch_purity")) << metric;
}

TEST(RunComparison, ShowsWhatIsAskedForOfWhatBothHave) {
  const auto a = run("masked", 0.5);
  auto b = run("interpretable", 0.6);
  const auto keys = [&](const Wanted& wanted) {
    std::vector<std::string> all;
    for (const auto& number : compare_runs({"a", a}, {"b", b}, wanted)) all.push_back(number.key);
    return all;
  };
  EXPECT_EQ(keys({}), (std::vector<std::string>{"accuracy", "part_label_iou", "purity"}));
  b.layers[0].findings.erase("part_label_iou");
  EXPECT_EQ(keys({}), (std::vector<std::string>{"accuracy", "purity"}));
  b = run("interpretable", 0.6);
  b.layers[0].findings["patch_purity"] = drawn(0.1);
  auto c = a;
  c.layers[0].findings["patch_purity"] = drawn(0.1);
  const auto only = compare_runs(
      {"c", c}, {"b", b}, {.split = {}, .data_hash = {}, .data = {}, .extras = {"patch_purity"}});
  ASSERT_EQ(only.size(), 3U);
  EXPECT_EQ(only[1].key, "patch_purity");
}

}  // namespace
}  // namespace partwise::findings
