#include "partwise/experiments/demo.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/killed_writer_fixture.h"
#include "partwise/experiments/application_fixture.h"
#include "partwise/experiments/explain_for_report.h"
#include "partwise/models/checkpoint.h"
#include "partwise/runs/explained_photographs.h"

namespace partwise::experiments {
namespace {

using ADemo = Application;

TEST_F(ADemo, TrainsMeasuresAndReportsFourArmsAndDoesNothingTwice) {
  DemoOptions few;
  few.images = few.pretraining_images = 9;
  few.categories = 2;
  few.size = 64;
  few.epochs = few.pretraining_epochs = 1;
  const auto demo = run_demo(root_ / "demo", few, "partwise demo", machine());
  ASSERT_EQ(demo.runs.size(), 4U);
  const auto summary = read_json(demo.summary);
  EXPECT_EQ(summary.at("arms").size(), 4U);
  for (std::size_t i = 0; i < demo.runs.size(); ++i) {
    EXPECT_EQ(demo.runs[i].log().size(), 1U);
    const auto model = read_json(demo.runs[i].path() / "model.json");
    for (const auto& layer : demo.found[i].layers) {
      EXPECT_FALSE(layer.cards.empty());
      const auto& known = model.at("filter_categories");
      EXPECT_TRUE(std::any_of(known.begin(), known.end(), [&](const auto& one) {
        return one.at("rule") == "training_rows" && one.at("layer") == layer.layer &&
               one.at("categories").size() == static_cast<std::size_t>(*layer.filters);
      })) << layer.layer;
    }
  }
  EXPECT_NE(read_file(demo.report).find("<html"), std::string::npos);
  const std::vector<const char*> steps{"training interpretable ...", "drawing figures ...",
                                       "explaining three photographs ..."};
  for (const auto* once : steps)
    EXPECT_EQ(std::count(said().begin(), said().end(), once), 1) << once;
  const auto explained = runs::explained_photographs(demo.runs.back());
  ASSERT_FALSE(explained.photographs.empty());
  EXPECT_NE(explained.rule.find("drawn at random by seed 1"), std::string::npos);
  EXPECT_NE(read_file(demo.report).find(explained.rule.substr(0, 20)), std::string::npos);
  for (const auto& one : explained.photographs) {
    EXPECT_TRUE(std::filesystem::exists(one.file_in(demo.runs.back().path())));
    EXPECT_EQ(one.right(), one.name != "wrong") << one.name;
    double sum = 0.0;
    for (const auto& part : one.parts) sum += part.share;
    EXPECT_NEAR(sum, one.evidence, 1e-4);  // complete: float32 scores
  }

  run_demo(root_ / "demo", few, "partwise demo", machine());
  for (const auto* once : steps)
    EXPECT_EQ(std::count(said().begin(), said().end(), once), 1) << once;
  EXPECT_EQ(read_json(demo.summary).at("arms"), summary.at("arms"));
  // What was measured of a network that has gone on since is measured again.
  const auto& ordinary = demo.runs.front();
  auto checkpoint = *models::newest_checkpoint(ordinary);
  checkpoint.position = {.epoch = 2};
  models::save_checkpoint(ordinary, checkpoint);
  const auto again = run_demo(root_ / "demo", few, "partwise demo", machine());
  EXPECT_EQ(std::count(said().begin(), said().end(), "measuring ordinary ..."), 2);
  EXPECT_EQ(std::count(said().begin(), said().end(), "measuring masked ..."), 1);
  EXPECT_EQ(again.found.front().moment, (runs::TrainingMoment{2, 0}));
  // Without its parts a run explains nothing, and shows nothing that is out of date.
  std::filesystem::remove(demo.runs.back().path() / "parts.json");
  explain_for_report(demo.runs, {}, machine());
  EXPECT_NE(said().back().find("no photographs are explained in the report"), std::string::npos);
  EXPECT_NE(said().back().find("partwise names"), std::string::npos);
  EXPECT_TRUE(runs::explained_photographs(demo.runs.back()).photographs.empty());
  few.seed = 2;
  EXPECT_THROW(run_demo(root_ / "demo", few, "partwise demo", machine()), Error);
}

TEST_F(ADemo, OfAMinuteStartsAllArmsFromTheCarriedBackbone) {
  auto few = quick_demo();
  EXPECT_EQ(few.backbone, DemoBackbone::carried);
  few.images = 9;
  few.categories = 2;
  few.epochs = 1;
  const auto demo = run_demo(root_ / "demo", few, "partwise demo --quick", machine());
  const auto start = (root_ / "demo" / "backbone.safetensors").string();
  for (const auto& run : demo.runs) EXPECT_EQ(run.options().at("init"), start);
  EXPECT_FALSE(std::filesystem::exists(root_ / "demo" / "pretraining-data"));
  EXPECT_NE(read_file(demo.report).find("it has seen none of the images here"), std::string::npos);
}

TEST_F(ADemo, LeavesAFolderWithOtherThingsUntouched) {
  std::filesystem::create_directories(root_);
  be_killed_while_writing(root_ / "thesis.txt");
  EXPECT_THROW(run_demo(root_, quick_demo(), "partwise demo", machine()), Error);
  EXPECT_FALSE(std::filesystem::is_empty(root_));
}

TEST_F(Application, AReportRefusesDataThatAreNotThere) {
  EXPECT_THROW(explain_for_report({}, root_ / "nowhere", machine()), Error);
}

}  // namespace
}  // namespace partwise::experiments
