#include "partwise/experiments/demo.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/experiments/application_fixture.h"

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
  for (const auto& run : demo.runs) {
    EXPECT_EQ(run.log().size(), 1U);
    const auto model = read_json(run.path() / "model.json");
    for (const auto& layer : run.findings()->at("layers")) {
      EXPECT_FALSE(layer.at("cards").empty());
      const auto& known = model.at("filter_categories");
      EXPECT_TRUE(std::any_of(known.begin(), known.end(), [&](const auto& one) {
        return one.at("rule") == "training_rows" && one.at("layer") == layer.at("layer") &&
               one.at("categories").size() == layer.at("filters").template get<std::size_t>();
      })) << layer.at("layer");
    }
  }
  EXPECT_NE(read_file(demo.report).find("<html"), std::string::npos);
  EXPECT_EQ(std::count(said().begin(), said().end(), "training interpretable ..."), 1);

  run_demo(root_ / "demo", few, "partwise demo", machine());
  EXPECT_EQ(std::count(said().begin(), said().end(), "training interpretable ..."), 1);
  EXPECT_EQ(read_json(demo.summary).at("arms"), summary.at("arms"));
  few.seed = 2;
  EXPECT_THROW(run_demo(root_ / "demo", few, "partwise demo", machine()), Error);
}

}  // namespace
}  // namespace partwise::experiments
