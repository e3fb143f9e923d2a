#include "partwise/runs/run_list.h"

#include "partwise/base/error.h"
#include "partwise/base/removal.h"

#include <gtest/gtest.h>

namespace partwise::runs {
namespace {

namespace fs = std::filesystem;

class RunList : public testing::Test {
 protected:
  void TearDown() override { remove_folder(root_); }
  fs::path root_ = fs::path(testing::TempDir()) / "partwise-run-list-test";
};

TEST_F(RunList, NamesEveryRunBelowAFolderOnce) {
  const nlohmann::json options{
      {"net", "tiny"}, {"arm", "masked"}, {"task", "multi"}, {"epochs", 3}};
  const auto run = RunFolder::create(root_ / "b", options, {{"data", "animals"}});
  run.append_log({{"epoch", 1}});
  RunFolder::create(root_ / "deep" / "a", options, {});
  RunFolder::create(root_ / "b" / "inside", options, {});
  RunFolder::create(root_ / ".hidden" / "c", options, {});
  fs::create_directory_symlink(root_ / "b", root_ / "link");
  const auto found = list_runs(root_);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].path, root_ / "b");
  EXPECT_EQ(found[0].net, "tiny");
  EXPECT_EQ(found[0].epochs, 1);
  EXPECT_EQ(found[0].epochs_wanted, 3);
  EXPECT_EQ(found[0].data, "animals");
  EXPECT_FALSE(found[0].is_training);
  EXPECT_EQ(found[1].path, root_ / "deep" / "a");
  EXPECT_EQ(list_runs(root_ / "b").size(), 1U);
}

TEST_F(RunList, ShowsTheOneThatIsBeingTrainedAndTheOneThatIsDamaged) {
  RunFolder::create(root_ / "busy", {{"net", "tiny"}}, {});
  RunFolder::create(root_ / "damaged", {{"net", "tiny"}}, {});
  write_file_atomically(root_ / "damaged" / "options.json", "[");
  const RunLock lock(root_ / "busy");
  const auto found = list_runs(root_);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].is_training);
  EXPECT_NE(found[1].problem.find("options.json"), std::string::npos);
}

TEST_F(RunList, OfAFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(list_runs(root_), Error);
}

}  // namespace
}  // namespace partwise::runs
