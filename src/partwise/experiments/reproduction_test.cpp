#include "partwise/experiments/reproduction.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/killed_writer_fixture.h"
#include "partwise/experiments/application_fixture.h"
#include "partwise/findings/findings_file.h"
#include "partwise/judging/dissection.h"
#include "partwise/models/checkpoint.h"

namespace partwise::experiments {
namespace {

using AGrid = Application;

TEST_F(AGrid, GoesOnWithTheCellsThatAreMissing) {
  draw_animals();
  GridRequest request;
  request.table = "voc-purity";
  request.data = (root_ / "animals").string();
  request.out = (root_ / "grid").string();
  request.selection = {{"tiny"}, {"ordinary+layer"}, {"fox"}, {"logistic"}, {1}};
  request.recipe.given = {{"epochs", 1}};
  request.bootstrap.resamples = 20;
  request.machine = machine();
  ASSERT_EQ(list_grid(request).size(), 1U);
  EXPECT_EQ(list_grid(request)[0].progress, CellProgress::open);
  EXPECT_FALSE(std::filesystem::exists(request.out));
  std::filesystem::create_directories(request.out);
  be_killed_while_writing(root_ / "grid" / "grid.json");
  EXPECT_TRUE(run_grid(request).failed.empty());
  EXPECT_EQ(list_grid(request)[0].progress, CellProgress::finished);

  request.selection.arms.emplace_back("interpretable");
  be_killed_while_writing(root_ / "grid" / "voc-purity.md");
  const auto before = said().size();
  const auto outcome = run_grid(request);
  EXPECT_TRUE(outcome.failed.empty());
  EXPECT_NE(outcome.table.find("2 of 2 cells are finished"), std::string::npos);
  EXPECT_EQ(outcome.table, read_file(root_ / "grid" / "voc-purity.md"));
  for (const auto& entry : std::filesystem::directory_iterator(request.out))
    EXPECT_EQ(entry.path().filename().string().find(".tmp"), std::string::npos) << entry.path();
  const std::vector<std::string> later(said().begin() + static_cast<std::ptrdiff_t>(before),
                                       said().end());
  EXPECT_EQ(later, (std::vector<std::string>{
                       "[2/2] tiny binary:fox logistic, interpretable, seed 1: training ...",
                       "[2/2] tiny binary:fox logistic, interpretable, seed 1: measuring ..."}));
}

// A signal between two of its steps, and somebody who measures what there is.
TEST_F(AGrid, TrainsAndMeasuresACellThatWasMeasuredHalfTrained) {
  const auto animals = draw_animals();
  GridRequest request;
  request.table = "voc-purity";
  request.data = (root_ / "animals").string();
  request.out = (root_ / "grid").string();
  request.selection = {{"tiny"}, {"masked"}, {"fox"}, {"logistic"}, {1}};
  request.recipe.given = {{"epochs", 1}, {"batch", 4}};
  request.bootstrap.resamples = 20;
  request.machine = machine();
  ASSERT_TRUE(run_grid(request).failed.empty());
  const auto run =
      runs::RunFolder::open(root_ / "grid" / folder_of({"tiny", "masked", "fox", "logistic", 1}));
  auto half = *models::newest_checkpoint(run);
  half.position = {.epoch = 0, .step = 1};
  models::save_checkpoint(run, half);
  EXPECT_EQ(list_grid(request)[0].progress, CellProgress::begun);  // measured at its end
  judging::MeasureOptions options;
  options.measures.bootstrap.resamples = 20;
  judging::measure_run(run, animals, options, {});
  EXPECT_EQ(list_grid(request)[0].progress, CellProgress::begun);  // measured as it is now

  EXPECT_TRUE(run_grid(request).failed.empty());
  const std::string cell = "[1/1] tiny binary:fox logistic, masked, seed 1: ";
  for (const auto* twice : {"training ...", "measuring ..."})
    EXPECT_EQ(std::count(said().begin(), said().end(), cell + twice), 2) << twice;
  EXPECT_EQ(list_grid(request)[0].progress, CellProgress::finished);
  EXPECT_EQ(findings::require_findings(run).moment, (runs::TrainingMoment{1, 0}));
}

TEST_F(AGrid, ThatIsImpossibleIsRefusedBeforeAnythingIsWritten) {
  draw_animals();
  GridRequest request;
  request.table = "voc-purity";
  request.data = (root_ / "animals").string();
  request.out = (root_ / "grid").string();
  request.selection.categories = {"unicorn"};
  EXPECT_THROW(run_grid(request), Error);
  request.table = "voc-impurity";
  EXPECT_THROW(run_grid(request), Error);
  EXPECT_FALSE(std::filesystem::exists(request.out));
}

}  // namespace
}  // namespace partwise::experiments
