#include "partwise/parts/part_option_fields.h"

#include <gtest/gtest.h>

namespace partwise::parts {
namespace {

using nlohmann::json;

const json kOurs{{"method", "partwise"},
                 {"layers", "both"},
                 {"mask_place", "before-pooling"},
                 {"beta", 4.0},
                 {"beta_rule", "fixed"},
                 {"template_shape", "l1"},
                 {"peak", "argmax"},
                 {"rule", "release"},
                 {"exponent", "scale-free"},
                 {"temperature", 0.0},
                 {"misfits", "ignored"},
                 {"balance", "category"},
                 {"assignment", "absolute"},
                 {"strength", 0.015},
                 {"strength_unit", "filter-share"},
                 {"schedule", "constant"},
                 {"loudness", "free"},
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
                                                             {"misfits", "reversed"},
                                                             {"balance", "none"},
                                                             {"strength", 1.0},
                                                             {"strength_unit", "peak"},
                                                             {"schedule", "inverse"},
                                                             {"guard", "off"}}));
}

TEST(Method, OfTheReleaseIsTheAuthorsCode) {
  EXPECT_EQ(to_json(method_options(Method::release)), changed({{"method", "release"},
                                                               {"mask_place", "after-pooling"},
                                                               {"beta_rule", "learned"},
                                                               {"peak", "centroid"},
                                                               {"exponent", "raw"},
                                                               {"misfits", "reversed"},
                                                               {"strength", 1e-6},
                                                               {"strength_unit", "absolute"},
                                                               {"schedule", "inverse"},
                                                               {"guard", "off"}}));
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
