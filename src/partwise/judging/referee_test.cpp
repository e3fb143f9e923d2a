#include "partwise/judging/referee.h"

#include "partwise/base/error.h"
#include "partwise/base/random.h"
#include "partwise/metrics/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace partwise::judging {
namespace {

// Two categories of 12 objects each, the first half of each for training; every object has a head
// in one of the four quarters of its box.
datasets::PartDataset zoo() {
  datasets::PartDataset dataset;
  dataset.root = "zoo";
  dataset.categories = {{5, "fox", {"head", "tail"}, {"nose"}}, {8, "deer", {"head"}, {"nose"}}};
  for (int64_t i = 0; i < 24; ++i) {
    dataset.images.push_back({100 + i, "", 32, 32});
    datasets::Annotation object;
    object.id = 1000 + i;
    object.image_id = 100 + i;
    object.category_id = i < 12 ? 5 : 8;
    object.bbox = {0, 0, 32, 32};
    const double x = i % 2 == 0 ? 0.0 : 16.0;
    const double y = i % 4 < 2 ? 0.0 : 16.0;
    object.landmarks["nose"] = {{x + 8.0, y + 8.0}};
    object.parts["head"].bbox = Box{x, y, 16.0, 16.0};
    if (i < 12) object.parts["tail"].bbox = Box{16.0 - x, y, 16.0, 16.0};
    dataset.annotations.push_back(object);
    dataset.splits[i % 12 < 6 ? "train" : "test"].push_back(100 + i);
  }
  return dataset;
}

// Two filters on 2 x 2 cells: the first fires on the head of foxes, the second on that of deer.
struct Recorded {
  std::vector<float> values;
  Dump dump;
};
void record(const datasets::PartDataset& dataset, bool test_only, Recorded& recorded) {
  auto& dump = recorded.dump;
  dump.file = "dump";
  dump.label = {"conv", "net", "test", "", {7.5, 16.0, 32}, {7.5, 16.0, 32}};
  Random random(1);
  for (const auto& object : dataset.annotations) {
    if (test_only && (object.id - 1000) % 12 < 6) continue;
    const auto nose = object.landmarks.at("nose").front();
    const int64_t cell = (nose.y > 16.0 ? 2 : 0) + (nose.x > 16.0 ? 1 : 0);
    for (const int64_t category : {5, 8}) {
      for (int64_t c = 0; c < 4; ++c) {
        const bool fires = c == cell && object.category_id == category;
        recorded.values.push_back(static_cast<float>((fires ? 2.0 : 0.0) + 0.5 * random.uniform()));
      }
    }
    dump.annotation.push_back(object.id);
  }
  dump.maps = {recorded.values, std::ssize(dump.annotation), 2, 2};
  dump.masked = dump.maps;
}

RefereeOptions quick() {
  RefereeOptions options;
  options.measures.bootstrap.resamples = 20;
  return options;
}

// As --json writes it.
nlohmann::json judged(const Dump& dump,
                      const datasets::PartDataset& dataset,
                      const RefereeOptions& options) {
  return to_json(judge(dump, dataset, options));
}

double value_of(const nlohmann::json& found, const char* key) {
  return found["layers"][0][key]["value"].get<double>();
}

TEST(Referee, TakesCategoriesAndThresholdsFromTrainingRowsAndJudgesTheOthers) {
  const auto dataset = zoo();
  Recorded recorded;
  record(dataset, false, recorded);
  auto options = quick();
  options.measures.extras = metrics::option_names(false);
  const auto found = judged(recorded.dump, dataset, options);
  EXPECT_EQ(found["rows"], 12);
  EXPECT_EQ(found["train_rows"], 12);
  EXPECT_EQ(found["category_from"], "train");
  EXPECT_EQ(found["training_images"], 0);
  EXPECT_TRUE(found["notes"].empty());
  const auto& layer = found["layers"][0];
  EXPECT_EQ(layer["filters_per_category"], (nlohmann::json{{"fox", 1}, {"deer", 1}}));
  EXPECT_EQ(value_of(found, "single_filter_accuracy"), 1.0);
  EXPECT_EQ(value_of(found, "single_filter_auc"), 1.0);
  // The threshold is the loudest of the training negatives; one judged negative may be louder.
  EXPECT_GE(value_of(found, "single_filter_honest_accuracy"), 0.95);
  EXPECT_GE(value_of(found, "single_filter_balanced_accuracy"), 0.95);
  EXPECT_GT(value_of(found, "activation_on_target"), 2.0);
  EXPECT_LT(value_of(found, "activation_on_other"), 0.5);
  EXPECT_EQ(value_of(found, "part_consistency"), 1.0);
  EXPECT_EQ(layer["part_label_iou"]["share_of_filters"]["fox"]["head"], 1.0);
  EXPECT_TRUE(layer["detectors_2017"].contains("unique"));
  EXPECT_TRUE(layer["purity"]["controls"].contains("scattered"));
  EXPECT_FALSE(layer.contains("part_stability"));  // a dump has no second look with noise
  for (const auto& [key, entry] : layer.items()) {
    if (!entry.is_object() || !entry.contains("value")) continue;
    EXPECT_LE(entry["low"], entry["high"]) << key;
    const bool needs_another_arm = key == "silent_share" || key == "effective_filters";
    EXPECT_EQ(entry["controls"].empty(), needs_another_arm) << key;
    EXPECT_EQ(entry["layer"], "conv") << key;
  }
}

// Both filters said to be of foxes, the second a fiftieth as loud.
TEST(Referee, FindsSilentFiltersAndCategoriesWithoutAny) {
  const auto dataset = zoo();
  Recorded recorded;
  record(dataset, false, recorded);
  for (std::size_t place = 0; place < recorded.values.size(); ++place) {
    if (place / 4 % 2 == 1) recorded.values[place] *= 0.02F;
  }
  recorded.dump.category = std::vector<int64_t>{5, 5};
  auto found = judged(recorded.dump, dataset, quick());
  EXPECT_EQ(value_of(found, "silent_share"), 0.5);
  EXPECT_LT(value_of(found, "effective_filters"), 1.1);
  EXPECT_EQ(value_of(found, "smallest_category_share"), 0.0);
  EXPECT_EQ(found["layers"][0]["smallest_category_share"]["unserved"], nlohmann::json{"deer"});

  std::fill(recorded.values.begin(), recorded.values.end(), 0.0F);
  found = judged(recorded.dump, dataset, quick());
  EXPECT_EQ(value_of(found, "silent_share"), 1.0);
  EXPECT_EQ(value_of(found, "effective_filters"), 0.0);
  EXPECT_TRUE(found["layers"][0]["purity"]["value"].is_null());
  EXPECT_EQ(found["layers"][0]["purity"]["silent_rows"], 1.0);
}

TEST(Referee, WarnsWhereItMustUseTheJudgedRowsThemselves) {
  const auto dataset = zoo();
  Recorded recorded;
  record(dataset, true, recorded);
  auto options = quick();
  options.measures.extras = {"single_filter"};
  const auto found = judged(recorded.dump, dataset, options);
  EXPECT_EQ(found["category_from"], "judged rows");
  EXPECT_EQ(found["notes"].size(), 1U);
  EXPECT_EQ(value_of(found, "single_filter_auc"), 1.0);
  EXPECT_TRUE(found["layers"][0]["single_filter_balanced_accuracy"]["value"].is_null());
  recorded.dump.category = {5, 8};
  const auto given = judged(recorded.dump, dataset, options);
  EXPECT_EQ(given["category_from"], "dump");
  EXPECT_TRUE(given["notes"].empty());
}

TEST(Referee, SaysHowManyJudgedRowsAreTrainingImages) {
  const auto dataset = zoo();
  Recorded recorded;
  record(dataset, false, recorded);
  auto options = quick();
  options.split = "all";
  const auto found = judged(recorded.dump, dataset, options);
  EXPECT_EQ(found["rows"], 24);
  EXPECT_EQ(found["training_images"], 12);
  EXPECT_NE(found["notes"].dump().find("12 of 24"), std::string::npos);
}

// The same rows in another order, the training ones first: chosen rows need not lie together.
TEST(Referee, DoesNotCareForTheOrderOfTrainingRows) {
  const auto dataset = zoo();
  Recorded recorded;
  record(dataset, false, recorded);
  Recorded sorted;
  sorted.dump = recorded.dump;
  sorted.dump.annotation.clear();
  for (const bool training : {true, false}) {
    for (int64_t row = 0; row < 24; ++row) {
      if ((row % 12 < 6) != training) continue;
      sorted.dump.annotation.push_back(1000 + row);
      sorted.values.insert(sorted.values.end(), recorded.values.begin() + row * 8,
                           recorded.values.begin() + row * 8 + 8);
    }
  }
  sorted.dump.maps.values = sorted.values;
  sorted.dump.masked = sorted.dump.maps;
  auto options = quick();
  options.measures.extras = metrics::option_names(false);
  EXPECT_EQ(judged(recorded.dump, dataset, options)["layers"].dump(),
            judged(sorted.dump, dataset, options)["layers"].dump());
}

TEST(Referee, JudgesABinaryTaskByItsOneCategory) {
  const auto dataset = zoo();
  Recorded recorded;
  record(dataset, false, recorded);
  auto options = quick();
  options.task = "binary:deer";
  options.measures.extras = {"single_filter", "class_selectivity"};
  const auto found = judged(recorded.dump, dataset, options);
  EXPECT_EQ(found["categories"], nlohmann::json::array({"deer"}));
  EXPECT_EQ(found["layers"][0]["filters_per_category"]["deer"], 2);
  EXPECT_GT(value_of(found, "class_selectivity"), 0.0);
}

TEST(Referee, NamesTheRowOrFilterThatDoesNotFitTheData) {
  const auto dataset = zoo();
  const auto complaint = [&](const auto& change, RefereeOptions options = quick()) -> std::string {
    Recorded recorded;
    record(dataset, false, recorded);
    change(recorded.dump, options);
    try {
      judged(recorded.dump, dataset, options);
    } catch (const Error& problem) {
      return problem.what();
    }
    return "";
  };
  const auto line = complaint([](Dump& dump, auto&) { dump.annotation[3] = 77; });
  EXPECT_NE(line.find("row 3 shows annotation 77"), std::string::npos) << line;
  const auto filter = complaint([](Dump& dump, auto&) { dump.category = {5, 6}; });
  EXPECT_NE(filter.find("filter 1 stands for category id 6"), std::string::npos) << filter;
  const auto split = complaint([](Dump&, auto& options) { options.split = "tset"; });
  EXPECT_NE(split.find("test"), std::string::npos) << split;
  const auto task = complaint([](Dump&, auto& options) { options.task = "binary:cow"; });
  EXPECT_NE(task.find("fox"), std::string::npos) << task;
}

}  // namespace
}  // namespace partwise::judging
