#include "partwise/parts/part_option_fields.h"

#include <gtest/gtest.h>

namespace partwise::parts {
namespace {

using nlohmann::json;

const json kOurs{{"method", "partwise"},
                 {"layers", "both"},
                 {"mask_place", "before-pooling"},
                 {"new_kernel", 3},
                 {"mask_warmup", 0.0},
                 {"beta", 4.0},
                 {"beta_rule", "fixed"},
                 {"template_shape", "l1"},
                 {"peak", "argmax"},
                 {"rule", "release"},
                 {"exponent", "scale-free"},
                 {"temperature", 0.0},
                 {"marginal", "definition"},
                 {"misfits", "reversed"},
                 {"weight_limit", 10.0},
                 {"balance", "category"},
                 {"assignment", "balanced"},
                 {"strength", 0.03},
                 {"strength_unit", "filter-share"},
                 {"schedule", "constant"},
                 {"loudness", "kept"},
                 {"vote", 0.3},
                 {"keep_alive", 0.03},
                 {"guard", "on"},
                 {"scale_memory", 0.9},
                 {"partition_memory", 0.9},
                 {"category_memory", 0.99}};

json changed(const json& by) {
  auto all = kOurs;
  all.update(by);
  return all;
}

TEST(Method, OfOursIsTheDefault) {
  EXPECT_EQ(to_json(PartOptions{}), kOurs);
  EXPECT_EQ(to_json(method_options(Method::partwise)), kOurs);
}

TEST(Method, OfThePaperIsItsText) {
  EXPECT_EQ(to_json(method_options(Method::paper)), changed({{"method", "paper"},
                                                             {"rule", "paper"},
                                                             {"exponent", "raw"},
                                                             {"weight_limit", 0.0},
                                                             {"balance", "none"},
                                                             {"assignment", "absolute"},
                                                             {"strength", 1.0},
                                                             {"strength_unit", "peak"},
                                                             {"schedule", "inverse"},
                                                             {"loudness", "free"},
                                                             {"vote", 0.0},
                                                             {"keep_alive", 0.0},
                                                             {"guard", "off"}}));
}

TEST(Method, OfTheReleaseIsTheAuthorsCode) {
  EXPECT_EQ(to_json(method_options(Method::release)), changed({{"method", "release"},
                                                               {"mask_place", "after-pooling"},
                                                               {"beta_rule", "learned"},
                                                               {"peak", "centroid"},
                                                               {"exponent", "raw"},
                                                               {"weight_limit", 0.0},
                                                               {"balance", "dataset"},
                                                               {"assignment", "peak"},
                                                               {"category_memory", 0.9},
                                                               {"strength", 1e-6},
                                                               {"strength_unit", "absolute"},
                                                               {"schedule", "inverse"},
                                                               {"loudness", "free"},
                                                               {"vote", 0.0},
                                                               {"keep_alive", 0.0},
                                                               {"guard", "off"}}));
}

// What an older program recorded has none of the options that came later; it acted as if they were
// off.
TEST(Method, OfAnOlderRunIsWhatItsProgramDid) {
  const auto old = part_options_from(
      completed_record({{"method", "partwise"}, {"strength", 0.015}, {"assignment", "absolute"}}),
      "options.json");
  EXPECT_EQ(old.strength, 0.015);
  EXPECT_EQ(old.vote, 0.0);
  EXPECT_EQ(old.keep_alive, 0.0);
  EXPECT_EQ(old.new_kernel, 3);
  EXPECT_EQ(old.loudness, Loudness::free);
  EXPECT_EQ(to_json(part_options_from(completed_record(kOurs), "options.json")), kOurs);
  EXPECT_EQ(completed_record(changed({{"pull_beta", 0.0}})), kOurs);
}

TEST(Method, YieldsToASingleOptionBesideIt) {
  const auto options =
      part_options_from({{"method", "release"}, {"peak", "argmax"}, {"strength", 0.5}}, "here");
  auto expected = method_options(Method::release);
  expected.peak = Peak::argmax;
  expected.strength = 0.5;
  EXPECT_EQ(to_json(options), to_json(expected));
  EXPECT_EQ(to_json(part_options_from(to_json(options), "options.json")), to_json(options));
}

TEST(Method, ThatIsUnknownListsTheKnown) {
  try {
    part_options_from({{"method", "papper"}}, "here");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "no method 'papper'; valid: partwise, paper, release (did you mean 'paper'?)");
  }
}

}  // namespace
}  // namespace partwise::parts
