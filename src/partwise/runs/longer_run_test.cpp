#include "partwise/runs/longer_run.h"

#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/runs/run_folder.h"

#include <gtest/gtest.h>

namespace partwise::runs {
namespace {

namespace fs = std::filesystem;

class LongerRun : public testing::Test {
 protected:
  LongerRun() {
    const auto run = RunFolder::create(folder_, {{"epochs", 1}}, {{"version", "x"}});
    run.append_log({{"epoch", 1}});
    write_sealed_json(folder_ / "findings.json", {{"accuracy", 0.5}});
  }
  ~LongerRun() override { remove_folder(folder_); }

  [[nodiscard]] nlohmann::json lengthened() const {
    return RunFolder::open(folder_).manifest().at("lengthened");
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-longer-run-test";
};

TEST_F(LongerRun, EveryJsonOfItIsSealed) {
  lengthen_run(folder_, 3);
  EXPECT_EQ(RunFolder::open(folder_).options().at("epochs"), 3);
  EXPECT_TRUE(fs::exists(folder_ / "findings-epoch-1.json"));
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() != ".json") continue;
    ++seen;
    const auto as_written = nlohmann::json::parse(read_file(entry.path()));
    EXPECT_TRUE(as_written.contains("checksum")) << entry.path();
  }
  EXPECT_EQ(seen, 3);
}

// The manifest is written first, then the options.
TEST_F(LongerRun, SaysItOnceWhereItsWriterWasKilledBetweenTwoFiles) {
  const auto options = read_file(folder_ / "options.json");
  lengthen_run(folder_, 2);
  for (const int64_t epochs : {2, 5}) {
    write_file_atomically(folder_ / "options.json", options);
    lengthen_run(folder_, epochs);
    ASSERT_EQ(lengthened().size(), 1U);
    EXPECT_EQ(lengthened()[0], (nlohmann::json{{"at_epoch", 1}, {"epochs", epochs}}));
  }
  lengthen_run(folder_, 7);
  EXPECT_EQ(lengthened().size(), 2U);
}

}  // namespace
}  // namespace partwise::runs
