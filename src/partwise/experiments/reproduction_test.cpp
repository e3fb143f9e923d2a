#include "partwise/experiments/reproduction.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/experiments/application_fixture.h"

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
  EXPECT_TRUE(run_grid(request).failed.empty());
  EXPECT_EQ(list_grid(request)[0].progress, CellProgress::finished);

  request.selection.arms.emplace_back("interpretable");
  const auto before = said().size();
  const auto outcome = run_grid(request);
  EXPECT_TRUE(outcome.failed.empty());
  EXPECT_NE(outcome.table.find("2 of 2 cells are finished"), std::string::npos);
  EXPECT_EQ(outcome.table, read_file(root_ / "grid" / "voc-purity.md"));
  const std::vector<std::string> later(said().begin() + static_cast<std::ptrdiff_t>(before),
                                       said().end());
  EXPECT_EQ(later, (std::vector<std::string>{
                       "[2/2] tiny binary:fox logistic, interpretable, seed 1: training ...",
                       "[2/2] tiny binary:fox logistic, interpretable, seed 1: measuring ..."}));
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
