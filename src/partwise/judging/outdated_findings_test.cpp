#include "partwise/judging/outdated_findings.h"

#include "partwise/base/removal.h"
#include "partwise/models/checkpoint.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace partwise::judging {
namespace {

class OutdatedFindings : public testing::Test {
 protected:
  void TearDown() override { remove_folder(run_.path()); }

  static models::Checkpoint at(int64_t epoch, int64_t step) {
    return {{.epoch = epoch, .step = step}, {{"weight", torch::zeros({1})}}};
  }
  static findings::RunFindings found(const std::string& checkpoint,
                                     std::optional<runs::TrainingMoment> moment) {
    findings::RunFindings found;
    found.checkpoint = checkpoint;
    found.moment = moment;
    return found;
  }

  const runs::RunFolder run_ =
      runs::RunFolder::create(std::filesystem::path(testing::TempDir()) /
                                  fmt::format("partwise-outdated-findings-test-{}", ::getpid()),
                              {{"seed", 1}},
                              {});
};

TEST_F(OutdatedFindings, AreNamedWithTheRemedyWhereTheNetworkHasGoneOn) {
  models::save_checkpoint(run_, at(2, 17));
  EXPECT_EQ(why_outdated(run_, found("last", {{2, 17}})), "");
  models::save_checkpoint(run_, at(10, 0));
  EXPECT_EQ(why_outdated(run_, found("last", {{10, 0}})), "");
  EXPECT_EQ(why_outdated(run_, found("last", {{2, 17}})),
            fmt::format("{0}: its findings are of epoch 2 and 17 steps, its network is at epoch "
                        "10; run: partwise measure {0}",
                        run_.path().string()));
}

TEST_F(OutdatedFindings, OfTheBestEpochAreHeldAgainstTheBestEpoch) {
  models::save_checkpoint(run_, at(10, 0));
  models::save_best(run_, at(3, 0));
  EXPECT_EQ(why_outdated(run_, found("best", {{3, 0}})), "");
  models::save_best(run_, at(7, 0));
  const auto why = why_outdated(run_, found("best", {{3, 0}}));
  EXPECT_NE(why.find("of epoch 3, its best checkpoint is at epoch 7"), std::string::npos) << why;
  EXPECT_TRUE(why.ends_with(" --checkpoint best")) << why;
}

TEST_F(OutdatedFindings, OfAnotherSplitOrCheckpointAreNotWhatWasAskedFor) {
  models::save_checkpoint(run_, at(10, 0));
  models::save_best(run_, at(3, 0));
  const auto asked = [&](const std::string& split, const std::string& checkpoint) {
    MeasureOptions options;
    options.split = split;
    options.checkpoint = checkpoint;
    auto those = found("best", {{3, 0}});
    those.split = "test";
    return are_as_asked(run_, those, options);
  };
  EXPECT_TRUE(asked("test", "best"));
  EXPECT_FALSE(asked("test", "last"));
  EXPECT_FALSE(asked("train", "best"));
  models::save_best(run_, at(7, 0));
  EXPECT_FALSE(asked("test", "best"));
}

TEST_F(OutdatedFindings, AreNotSaidToBeSoWhereNothingTells) {
  EXPECT_EQ(why_outdated(run_, found("last", {{2, 0}})), "");  // the checkpoint has gone
  models::save_checkpoint(run_, at(10, 0));
  EXPECT_EQ(why_outdated(run_, found("last", std::nullopt)), "");  // an older program's
  EXPECT_EQ(why_outdated(run_, found("best", {{2, 0}})), "");
}

}  // namespace
}  // namespace partwise::judging
