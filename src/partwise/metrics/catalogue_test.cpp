#include "partwise/metrics/catalogue.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

#include <set>

namespace partwise::metrics {
namespace {

TEST(Catalogue, HasWordsAndAFunctionInEveryRowAndNoKeyTwice) {
  std::set<std::string> keys;
  for (const auto& metric : catalogue()) {
    EXPECT_NE(metric.of_layer == nullptr, metric.of_network == nullptr) << metric.title;
    ASSERT_FALSE(metric.numbers.empty()) << metric.title;
    for (const auto& words : metric.numbers) {
      EXPECT_TRUE(keys.insert(words.key).second) << words.key;
      for (const char* text : {words.name, words.axis, words.meaning, words.controls,
                               words.cannot_show, metric.title, metric.question})
        EXPECT_NE(std::string(text), "") << words.key;
      EXPECT_EQ(find_number(words.key), &words);
      EXPECT_EQ(find_metric(words.key), &metric);
    }
  }
  EXPECT_EQ(find_number("of_tomorrow"), nullptr);
}

TEST(Catalogue, NamesItsOptionsAndListsThemForAWrongName) {
  EXPECT_EQ(options_named("part_labels,single_filter,part_labels", false, false),
            (std::vector<std::string>{"part_labels", "single_filter"}));
  EXPECT_TRUE(options_named("", false, true).empty());
  // All but fields and evidence, which take minutes.
  EXPECT_EQ(options_named("class_selectivity", true, false).size() + 2, option_names(false).size());
  EXPECT_THROW(options_named("part_lables", false, true), Error);
  EXPECT_THROW(options_named("adversarial_distortion", false, false), Error);
  EXPECT_NO_THROW(options_named("adversarial_distortion", false, true));
}

TEST(Catalogue, LeavesOutWhatAnExamLacks) {
  const std::vector<float> scores{0.1F, 0.9F};
  const std::vector<int64_t> labels{1};
  NetworkExam exam;
  exam.scores = scores;
  exam.classes = 2;
  exam.labels = labels;
  const auto found = measure_network(exam, {.resamples = 10});
  EXPECT_EQ(found.size(), 2U);
  EXPECT_EQ(found.at("accuracy").value, 1.0);
  exam.by_lbfgs = exam.by_carlini_wagner = {{0.5, 1.0, false}};
  EXPECT_EQ(measure_network(exam, {.resamples = 10}).at("adversarial_distortion").value, 0.5);
}

}  // namespace
}  // namespace partwise::metrics
