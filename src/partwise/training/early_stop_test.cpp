#include "partwise/training/early_stop.h"

#include <gtest/gtest.h>

namespace partwise::training {
namespace {

using nlohmann::json;

json epoch(double accuracy, double loss, const json& first_purity, const json& last_ratio) {
  return {{"loss", 9.0},
          {"validation",
           {{"accuracy", accuracy},
            {"loss", loss},
            {"layers",
             {{{"purity", first_purity}, {"instability_ratio", 0.0}},
              {{"purity", 1.0}, {"instability_ratio", last_ratio}}}}}}};
}

const std::vector<json> kEpochs{epoch(0.5, 1.0, 0.3, 0.9), epoch(0.9, 0.8, 0.2, 0.7),
                                epoch(0.9, 0.5, nullptr, 0.6), epoch(0.8, 0.6, 0.4, nullptr)};

TEST(EarlyStop, EveryMetricHasItsOwnBestEpochTheFirstOfEquals) {
  EXPECT_EQ(judge_epochs(kEpochs, StopMetric::accuracy, 9).best_epoch, 2);
  EXPECT_EQ(judge_epochs(kEpochs, StopMetric::loss, 9).best_epoch, 3);
  EXPECT_EQ(judge_epochs(kEpochs, StopMetric::purity, 9).best_epoch, 4);
  EXPECT_EQ(judge_epochs(kEpochs, StopMetric::instability, 9).best_epoch, 3);
  EXPECT_EQ(judge_epochs(kEpochs, StopMetric::none, 9).best_epoch, 3);
}

TEST(EarlyStop, StopsAfterSoManyEpochsWithoutABetterOne) {
  EXPECT_FALSE(judge_epochs(kEpochs, StopMetric::accuracy, 3).stop);
  EXPECT_TRUE(judge_epochs(kEpochs, StopMetric::accuracy, 2).stop);
  EXPECT_FALSE(judge_epochs(kEpochs, StopMetric::purity, 1).stop);
  EXPECT_FALSE(judge_epochs(kEpochs, StopMetric::none, 1).stop);
  EXPECT_FALSE(judge_epochs({}, StopMetric::loss, 1).stop);
}

TEST(EarlyStop, WithoutValidationNoEpochIsTheBest) {
  EXPECT_EQ(judge_epochs({{{"epoch", 1}, {"loss", 1.0}}}, StopMetric::none, 1).best_epoch, 0);
}

}  // namespace
}  // namespace partwise::training
