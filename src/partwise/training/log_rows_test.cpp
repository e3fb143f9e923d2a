#include "partwise/training/log_rows.h"

#include "partwise/base/error.h"
#include "partwise/base/removal.h"

#include <gtest/gtest.h>

namespace partwise::training {
namespace {

nlohmann::json row(double loss, double peak) {
  return {{"loss", loss}, {"layers", {{{"layer", "conv4"}, {"mean_peak", peak}}}}};
}

TEST(Runaway, IsToldOnceWhenTheLossPassesTheFirstEpochs) {
  EXPECT_FALSE(runaway_warning({}));
  EXPECT_FALSE(runaway_warning({row(0.7, 2.0)}));
  EXPECT_FALSE(runaway_warning({row(0.7, 2.0), row(0.2, 9.0), row(0.5, 30.0)}));
  EXPECT_TRUE(runaway_warning({row(0.7, 2.0), row(0.2, 9.0), row(0.8, 30.0)}));
  EXPECT_FALSE(runaway_warning({row(0.7, 2.0), row(0.8, 30.0), row(0.9, 40.0)}));
}

TEST(Runaway, NamesTheLayerThatBecameLouderOrElseTheLearningRate) {
  const auto loud = runaway_warning({row(0.7, 2.0), row(0.8, 30.0)}).value();
  EXPECT_NE(loud.find("conv4 from 2 to 30"), std::string::npos) << loud;
  EXPECT_NE(loud.find("--loudness kept"), std::string::npos) << loud;
  const auto quiet = runaway_warning({row(0.7, 2.0), row(0.8, 2.1)}).value();
  EXPECT_NE(quiet.find("--learning-rate"), std::string::npos) << quiet;
  const nlohmann::json old{{"loss", 0.7}};
  EXPECT_TRUE(runaway_warning({old, row(0.8, 30.0)}));
}

TEST(RowsUntil, ARowThatIsMissingIsNamed) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "partwise-log-rows-test";
  const auto run = runs::RunFolder::create(folder, {}, {});
  run.append_log({{"epoch", 1}});
  run.append_log({{"epoch", 2}});
  EXPECT_EQ(rows_until(run, 1).size(), 1U);  // the second epoch's checkpoint was lost
  EXPECT_EQ(rows_until(run, 2).size(), 2U);
  EXPECT_THROW(rows_until(run, 3), Error);
  remove_folder(folder);
}

nlohmann::json row_with(double silent, const std::vector<int64_t>& filters) {
  return {{"loss", 1.0},
          {"layers",
           {{{"layer", "conv4"}, {"silent_share", silent}, {"filters_per_category", filters}}}}};
}

TEST(LayerWarnings, NameSilentFiltersAndUnservedCategoriesOnce) {
  const std::vector<std::string> names{"cat", "fox"};
  std::vector<nlohmann::json> rows{row_with(0.2, {40, 40})};
  constexpr auto kAbsolute = parts::Assignment::absolute;
  EXPECT_TRUE(layer_warnings(rows, names, kAbsolute).empty());
  rows.push_back(row_with(0.5, {72, 8}));
  const auto told = layer_warnings(rows, names, kAbsolute);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_NE(told[0].find("conv4: 50 % of the filters are silent"), std::string::npos);
  EXPECT_NE(told[1].find("conv4: 8 of its filters stand for fox"), std::string::npos);
  EXPECT_NE(told[1].find("--assignment balanced"), std::string::npos);
  const auto balanced = layer_warnings(rows, names, parts::Assignment::balanced);
  EXPECT_EQ(balanced[1].find("--assignment balanced"), std::string::npos);  // it is in force
  rows.push_back(row_with(0.6, {73, 7}));
  EXPECT_TRUE(layer_warnings(rows, names, kAbsolute).empty());
}

TEST(LayerWarnings, SayNothingOfABinaryTaskOrAnOlderLog) {
  constexpr auto kBalanced = parts::Assignment::balanced;
  EXPECT_TRUE(layer_warnings({row_with(0.0, {80})}, {"cat"}, kBalanced).empty());
  EXPECT_TRUE(layer_warnings({{{"loss", 1.0}}}, {"cat", "fox"}, kBalanced).empty());
  EXPECT_TRUE(layer_warnings({}, {}, kBalanced).empty());
}

}  // namespace
}  // namespace partwise::training
