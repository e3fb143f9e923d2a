#include "partwise/experiments/grid.h"

#include "partwise/base/error.h"

#include <gtest/gtest.h>

#include <set>

namespace partwise::experiments {
namespace {

TEST(Grid, OfATableIsItsNetsArmsCategoriesAndLosses) {
  const auto& binary = find_table("voc-instability");
  EXPECT_EQ(grid_cells(binary, {}, binary.categories).size(), 4U * 4U * 6U);
  const auto& multi = find_table("voc-multi-instability");
  const auto cells = grid_cells(multi, {}, binary.categories);
  EXPECT_EQ(cells.size(), 3U * 3U * 2U);
  EXPECT_EQ(cells.front().task(), "multi");
}

TEST(Grid, CanBeAPartOfItOrOtherNetsAndCategories) {
  Selection selection;
  selection.nets = {"tiny"};
  selection.arms = {"masked", "interpretable"};
  selection.categories = {"deer"};
  selection.seeds = {4, 5};
  const auto cells = grid_cells(find_table("voc-purity"), selection, {"fox", "deer"});
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(name_of(cells[1]), "tiny binary:deer logistic, interpretable, seed 4");
  EXPECT_EQ(folder_of(cells[1]), "runs/tiny/binary-deer-logistic/interpretable/seed-4");
}

TEST(Grid, WithoutChosenCategoriesTakesThePapersThatTheDataHave) {
  const auto& table = find_table("animal-part-purity");
  std::set<std::string> found;
  for (const auto& cell : grid_cells(table, {}, {"fox", "unicorn", "red panda"}))
    found.insert(cell.category);
  EXPECT_EQ(found, (std::set<std::string>{"fox", "red panda"}));
  EXPECT_EQ(grid_cells(table, {}, {"unicorn"}).front().category, "unicorn");
}

TEST(Grid, RefusesWhatTheTableOrTheDataDoNotHave) {
  const auto& multi = find_table("voc-multi-instability");
  EXPECT_THROW(grid_cells(multi, {.categories = {"cat"}}, {"cat"}), Error);
  EXPECT_THROW(grid_cells(multi, {.losses = {"hinge"}}, {"cat"}), Error);
  EXPECT_THROW(grid_cells(find_table("voc-purity"), {.categories = {"dgo"}}, {"dog"}), Error);
}

}  // namespace
}  // namespace partwise::experiments
