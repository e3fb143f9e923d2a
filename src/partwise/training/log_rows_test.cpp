#include "partwise/training/log_rows.h"

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

}  // namespace
}  // namespace partwise::training
