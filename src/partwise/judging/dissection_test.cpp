#include "partwise/judging/dissection.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"
#include "partwise/findings/findings_file.h"
#include "partwise/models/run_data.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>
#include <vector>

namespace partwise::judging {
namespace {

namespace fs = std::filesystem;

models::Examples five_rows() {
  models::Examples examples;
  examples.pixels = torch::arange(5, torch::kUInt8).view({5, 1, 1, 1});
  examples.category = torch::tensor({1, -1, 0, 1, -1}, torch::kInt64);
  examples.samples = {{10, 0}, {11, -1}, {12, 1}, {13, 2}, {14, -1}};
  return examples;
}

TEST(RowsWithObjects, LeaveTheOthersAsTheyAre) {
  const auto all = five_rows();
  const auto objects = rows_with_objects(all);
  EXPECT_EQ(objects.rows(), 3);
  EXPECT_TRUE(objects.category.equal(torch::tensor({1, 0, 1}, torch::kInt64)));
  EXPECT_TRUE(objects.pixels.flatten().equal(torch::tensor({0, 2, 3}, torch::kUInt8)));
  EXPECT_EQ(objects.samples[1].image_index, 12);
  EXPECT_EQ(all.rows(), 5);
}

TEST(TrainingImages, AreCountedByTheirImageNotTheirObject) {
  models::Examples train;
  train.samples = {{12, 7}, {14, 8}, {14, 9}, {99, 1}};
  EXPECT_EQ(training_images(five_rows(), train), 2);
}

// Three categories; the softmax decides rows 0 and 2 right.
TEST(DecisionsOn, CountTruthAgainstDecision) {
  models::Task task;
  task.categories = {"fox", "deer", "hen"};
  const auto logits = torch::tensor({{2.0F, 1.0F, 0.0F}, {0.0F, 0.0F, 3.0F}, {0.0F, 1.0F, 0.0F}});
  const auto category = torch::tensor({0, 0, 1}, torch::kInt64);
  const auto found = decisions_on(task, logits, category, {}, {.resamples = 20});
  EXPECT_DOUBLE_EQ(found.findings.at("accuracy").value, 2.0 / 3.0);
  EXPECT_EQ(found.findings.at("accuracy").draws.own.size(), 20U);
  EXPECT_EQ(found.confusion, (std::vector<std::vector<int64_t>>{{1, 0, 1}, {0, 1, 0}, {0, 0, 0}}));
  EXPECT_FALSE(found.findings.contains("output_accuracy"));
  EXPECT_FALSE(found.findings.contains("adversarial_distortion"));
}

// Of six answers the hen's yes in row 0 and the fox's no in row 1 are wrong.
TEST(DecisionsOn, CountEveryAnswerWhereOutputsSayYesOrNo) {
  models::Task task;
  task.logistic = true;
  task.categories = {"fox", "hen"};
  const auto logits = torch::tensor({{2.0F, 1.0F}, {-1.0F, -2.0F}, {-1.0F, 3.0F}});
  const auto category = torch::tensor({0, 0, 1}, torch::kInt64);
  const auto found = decisions_on(task, logits, category, {}, {.resamples = 20});
  EXPECT_DOUBLE_EQ(found.findings.at("output_accuracy").value, 4.0 / 6.0);
  task.binary = true;
  EXPECT_FALSE(decisions_on(task, logits, category, {}, {.resamples = 20})
                   .findings.contains("output_accuracy"));
}

TEST(DecisionsOn, HoldAttacksWhereThereWereAny) {
  models::Task task;
  task.categories = {"fox", "hen"};
  const Attacked attacked{{{0.1, 0.4, true}, {0.3, 0.8, false}}, {{0.2, 0.5, false}}};
  const auto found = decisions_on(task, torch::tensor({{2.0F, 1.0F}}),
                                  torch::tensor({0}, torch::kInt64), attacked, {.resamples = 20});
  EXPECT_DOUBLE_EQ(found.findings.at("adversarial_distortion").value, 0.2);
  EXPECT_EQ(found.findings.at("adversarial_distortion").facts.at("images"), 2);
  EXPECT_EQ(found.findings.at("adversarial_distortion_cw").facts.at("random_flips"), 0.0);
}

class Dissect : public testing::Test {
 protected:
  void TearDown() override { remove_folder(root_); }

  datasets::PartDataset animals(int64_t images, const std::string& folder = "data") const {
    datasets::SyntheticOptions drawing;
    drawing.images = images;
    drawing.categories = 2;
    drawing.size = 64;
    return datasets::write_synthetic_animals(root_ / folder, drawing, 2);
  }
  // As its network was drawn, with a checkpoint that says how far it was trained.
  runs::RunFolder untrained(const datasets::PartDataset& dataset,
                            const models::Position& position,
                            const nlohmann::json& manifest = nlohmann::json::object()) const {
    const nlohmann::json drawn{{"net", "tiny"},
                               {"arm", "interpretable"},
                               {"task", "multi"},
                               {"loss", "softmax"},
                               {"seed", 1}};
    auto run = runs::RunFolder::create(root_ / "run", drawn, manifest);
    const auto design = models::make_design(drawn, dataset);
    models::claim_model(run, design);
    models::save_checkpoint(run, {position, models::draw_network(design).state()});
    return run;
  }

  fs::path root_ = fs::path(testing::TempDir()) / "partwise-dissection-test";
};

TEST_F(Dissect, FindsTheSameWhateverTheThreadCountAndCountsEveryFilter) {
  const auto dataset = animals(16);
  const auto run = untrained(dataset, {});
  MeasureOptions options;
  options.measures.bootstrap.resamples = 50;
  options.measures.extras = metrics::option_names(false);
  options.random_control = true;
  const auto seen = dissect(run, dataset, options, {});
  const auto measured = measure_run(run, dataset, options, {});
  options.measures.bootstrap.threads = 1;
  EXPECT_EQ(to_json(seen.findings).dump(),
            to_json(dissect(run, dataset, options, {"cpu", 1}).findings).dump());
  for (const auto& layer : seen.findings.layers) {
    for (const char* key : {"purity", "single_filter_auc", "part_stability"})
      EXPECT_TRUE(layer.findings.at(key).controls.contains("random_weights")) << key;
    EXPECT_TRUE(layer.findings.at("silent_share").controls.contains("random_weights"));
    for (const char* key : {"unit_centre", "other_offset", "uniform_random"})
      EXPECT_TRUE(layer.findings.at("part_interpretability_evidence").controls.contains(key))
          << key;
    const auto& fitted = layer.findings.at("single_filter_accuracy");
    EXPECT_GE(fitted.value, fitted.controls.at("majority_class"));
    int64_t filters = 0;
    for (const auto& [category, count] : layer.filters_per_category) filters += count;
    EXPECT_EQ(filters, layer.filters);
  }
  int64_t confusion = 0;
  for (const auto& row : seen.findings.confusion) {
    for (const int64_t count : row) confusion += count;
  }
  EXPECT_EQ(confusion, seen.findings.rows);
  ASSERT_EQ(seen.cards.size(), 2U);
  for (const auto& cards : seen.cards) {
    EXPECT_EQ(cards.size(), 12U);  // three kinds, four each
    for (const auto& card : cards) EXPECT_FALSE(card.rows.empty());
  }

  const auto read = findings::require_findings(run);
  EXPECT_EQ(to_json(read), to_json(measured));
  EXPECT_EQ(read.without_draws, "");
  EXPECT_EQ(read.options.at("resamples"), 50);
  for (const auto& layer : read.layers) {
    for (const auto& [key, finding] : layer.findings) {
      EXPECT_EQ(finding.draws.own.size(), 50U) << key;
      EXPECT_EQ(finding.draws.partner.size(), 50U) << key;
    }
    for (const auto& card : layer.cards)
      EXPECT_TRUE(fs::exists(run.path() / card.picture)) << card.picture;
  }
}

TEST_F(Dissect, SaysWhichMomentOfTheTrainingAndWhichPhotographsItSaw) {
  const auto dataset = animals(9);
  const auto run = untrained(dataset, {.epoch = 2, .step = 5});
  MeasureOptions options;
  options.measures.bootstrap.resamples = 20;
  const auto found = dissect(run, dataset, options, {}).findings;
  EXPECT_EQ(found.moment, (runs::TrainingMoment{2, 5}));
  EXPECT_EQ(found.images_hash.size(), found.data_hash.size());
  EXPECT_NE(found.images_hash, found.data_hash);
}

// Ended at any moment before, it leaves the older findings with the pictures that belong to them.
TEST_F(Dissect, LeavesOlderPicturesUntilItsFindingsAreThere) {
  const auto dataset = animals(9);
  const auto run = untrained(dataset, {});
  const auto there = run.path() / "findings.json";
  MeasureOptions options;
  options.measures.bootstrap.resamples = 20;
  measure_run(run, dataset, options, {});
  std::map<std::string, std::string> pictures;
  for (const auto& entry : fs::directory_iterator(run.pictures()))
    pictures[entry.path().filename()] = read_file(entry.path());
  ASSERT_FALSE(pictures.empty());

  fs::remove(there);
  fs::create_directories(there / "in its way");
  options.split = "train";
  EXPECT_THROW(measure_run(run, dataset, options, {}), Error);
  for (const auto& [name, content] : pictures)
    EXPECT_EQ(read_file(run.pictures() / name), content) << name;

  fs::remove_all(there);
  std::set<fs::path> named;
  for (const auto& layer : measure_run(run, dataset, options, {}).layers) {
    for (const auto& card : layer.cards) named.insert(run.path() / card.picture);
  }
  std::set<fs::path> left;
  for (const auto& entry : fs::directory_iterator(run.pictures())) left.insert(entry.path());
  EXPECT_EQ(left, named);
}

// The train split of other data once passed for what the network had seen.
TEST_F(Dissect, KnowsTrainingImagesOfTheRunsOwnDataAlone) {
  const auto own = animals(9);
  const auto other = animals(12, "other");
  const auto run = untrained(own, {}, models::data_record(own));
  MeasureOptions options;
  options.measures.bootstrap.resamples = 20;
  EXPECT_EQ(measure_run(run, own, options, {}).training_images, 0);
  fs::rename(root_ / "data", root_ / "moved");
  EXPECT_EQ(measure_run(run, datasets::load_dataset(root_ / "moved"), options, {}).training_images,
            0);
  EXPECT_FALSE(measure_run(run, other, options, {}).training_images.has_value());
  options.split = "train";
  EXPECT_FALSE(measure_run(run, other, options, {}).training_images.has_value());
}

TEST_F(Dissect, LeavesThePicturesOfFindingsThatALongerTrainingPutAside) {
  const auto dataset = animals(9);
  const auto run = untrained(dataset, {});
  MeasureOptions options;
  options.measures.bootstrap.resamples = 20;
  const auto before = measure_run(run, dataset, options, {});
  fs::rename(run.path() / "findings.json", run.path() / "findings-epoch-3.json");
  options.split = "train";
  measure_run(run, dataset, options, {});
  int pictures = 0;
  for (const auto& layer : before.layers) {
    for (const auto& card : layer.cards) {
      if (card.picture.empty()) continue;
      EXPECT_TRUE(fs::exists(run.path() / card.picture)) << card.picture;
      ++pictures;
    }
  }
  EXPECT_GT(pictures, 0);
}

TEST_F(Dissect, OfTwoAtOnceOneWritesAfterTheOther) {
  const auto dataset = animals(9);
  const auto run = untrained(dataset, {});
  std::vector<std::thread> both;
  for (const auto* split : {"test", "train"}) {
    both.emplace_back([&, split] {
      MeasureOptions options;
      options.split = split;
      options.measures.bootstrap.resamples = 20;
      for (int i = 0; i < 3; ++i) measure_run(run, dataset, options, {});
    });
  }
  for (auto& one : both) one.join();
  const auto found = findings::require_findings(run);
  EXPECT_EQ(found.without_draws, "");
  for (const auto& layer : found.layers) {
    for (const auto& card : layer.cards)
      EXPECT_TRUE(card.picture.empty() || fs::exists(run.path() / card.picture)) << card.picture;
  }
}

}  // namespace
}  // namespace partwise::judging
