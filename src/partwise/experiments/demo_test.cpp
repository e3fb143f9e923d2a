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
  for (const auto* once : {"training interpretable ...", "drawing figures ..."})
    EXPECT_EQ(std::count(said().begin(), said().end(), once), 1) << once;

  run_demo(root_ / "demo", few, "partwise demo", machine());
  for (const auto* once : {"training interpretable ...", "drawing figures ..."})
    EXPECT_EQ(std::count(said().begin(), said().end(), once), 1) << once;
  EXPECT_EQ(read_json(demo.summary).at("arms"), summary.at("arms"));
  few.seed = 2;
  EXPECT_THROW(run_demo(root_ / "demo", few, "partwise demo", machine()), Error);
}

}  // namespace
}  // namespace partwise::experiments
