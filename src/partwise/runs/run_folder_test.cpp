#include "partwise/runs/run_folder.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/killed_writer_fixture.h"
#include "partwise/base/removal.h"
#include "partwise/runs/log_scalars.h"

#include <gtest/gtest.h>

#include <fstream>

namespace partwise::runs {
namespace {

namespace fs = std::filesystem;

class Run : public testing::Test {
 protected:
  void TearDown() override { remove_folder(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-run-test";
};

TEST_F(Run, IsReopenedWithTheSameOptionsAndRefusedWithOthers) {
  RunFolder::create(folder_, {{"seed", 1}}, {{"version", "x"}});
  EXPECT_EQ(RunFolder::create(folder_, {{"seed", 1}}, {}).manifest().at("version"), "x");
  try {
    RunFolder::create(folder_, {{"seed", 2}}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("seed is 1 there and 2 here"), std::string::npos);
  }
  EXPECT_EQ(RunFolder::open(folder_).options().at("seed"), 1);
}

TEST_F(Run, OfAnOlderProgramGoesOnWhereItsOptionsComeToTheSame) {
  RunFolder::create(folder_, {{"seed", 1}}, {});
  const auto effective = [](const nlohmann::json& options) {
    nlohmann::json all{{"seed", 0}, {"zoom", 0.5}};
    all.update(options);
    return all;
  };
  RunFolder::create(folder_, {{"seed", 1}, {"zoom", 0.5}}, {}, effective);
  EXPECT_THROW(RunFolder::create(folder_, {{"seed", 1}, {"zoom", 0.6}}, {}, effective), Error);
  EXPECT_THROW(RunFolder::create(folder_, {{"seed", 0}, {"zoom", 0.5}}, {}, effective), Error);
}

TEST_F(Run, KilledWhileItWasMadeIsMadeAgain) {
  fs::create_directories(folder_);
  be_killed_while_writing(folder_ / "options.json");
  EXPECT_EQ(RunFolder::create(folder_, {{"seed", 1}}, {{"version", "x"}}).options().at("seed"), 1);
  fs::remove(folder_ / "manifest.json");
  EXPECT_TRUE(RunFolder::open(folder_).manifest().empty());
  EXPECT_EQ(RunFolder::create(folder_, {{"seed", 1}}, {{"version", "y"}}).manifest().at("version"),
            "y");
  EXPECT_EQ(RunFolder::open(folder_).manifest().at("version"), "y");
}

TEST_F(Run, IsTrainedByOneAtATime) {
  RunFolder::create(folder_, {{"seed", 1}}, {});
  {
    const RunLock first(folder_);
    EXPECT_THROW(RunLock second(folder_), Error);
  }
  const RunLock afterwards(folder_);
}

TEST_F(Run, AFolderWithOtherThingsIsLeftUntouched) {
  fs::create_directories(folder_);
  write_file_atomically(folder_ / "thesis.txt", "precious");
  be_killed_while_writing(folder_ / "notes.txt");
  EXPECT_THROW(RunFolder::create(folder_, {}, {}), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(Run, TheEventFileGrowsInPlaceAndIsWrittenAnewWhenTheLogWasCut) {
  const auto run = RunFolder::create(folder_, {}, {{"created", "1970-01-02T00:00:01Z"}});
  const auto path = folder_ / kEventFile;
  const auto expected = [&] { return event_file(run.log(), 86401.0); };
  run.append_log({{"epoch", 1}, {"seconds", 5.0}});
  fs::create_hard_link(path, folder_ / "watched");
  run.append_log({{"epoch", 2}, {"seconds", 5.0}});
  EXPECT_EQ(read_file(folder_ / "watched"), expected());
  fs::resize_file(path, fs::file_size(path) - 3);  // a full disk cut the last record
  run.append_log({{"epoch", 3}, {"seconds", 5.0}});
  EXPECT_EQ(read_file(folder_ / "watched"), expected());
  run.rewrite_log({{{"epoch", 1}, {"seconds", 7.0}}});
  EXPECT_EQ(read_file(path), expected());
  EXPECT_EQ(read_file(folder_ / "log.csv"), "epoch,seconds\n1,7\n");
}

TEST_F(Run, ALogDamagedBeforeItsEndIsNamed) {
  const auto run = RunFolder::create(folder_, {}, {});
  for (const auto* text : {"{\"epoch\": 1}\nnoise\n{\"epoch\": 3}\n", "null\n", "[]\n", "{\"a\n"}) {
    std::ofstream(folder_ / "log.jsonl") << text;
    EXPECT_THROW(run.log(), Error) << text;
  }
}

TEST_F(Run, AChangedDigitOfTheLogIsNoticed) {
  const auto run = RunFolder::create(folder_, {}, {});
  run.append_log({{"epoch", 1}, {"loss", 0.5}});
  auto text = read_file(folder_ / "log.jsonl");
  text[text.find("0.5") + 2] = '4';
  write_file_atomically(folder_ / "log.jsonl", text);
  EXPECT_THROW(run.log(), Error);
}

TEST_F(Run, ALogCutOffByAKilledWriterLosesOnlyItsLastLine) {
  const auto run = RunFolder::create(folder_, {}, {});
  run.append_log({{"epoch", 1}});
  run.append_log({{"epoch", 2}});
  std::ofstream(folder_ / "log.jsonl", std::ios::app) << R"({"epoch": 3, "lo)";
  const auto rows = run.log();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.back().at("epoch"), 2);
}

TEST_F(Run, WithAFileThatIsNoObjectIsRefused) {
  RunFolder::create(folder_, {{"seed", 1}}, {});
  for (const auto* name : {"manifest.json", "options.json"}) {
    write_file_atomically(folder_ / name, "[]");
    EXPECT_THROW(RunFolder::open(folder_), Error);
  }
}

TEST_F(Run, IsGoneOnWithOnlyWhereItsDataIsTheSame) {
  const nlohmann::json manifest{{"data_hash", "a"}, {"images_hash", "b"}, {"images_written", "c"}};
  RunFolder::create(folder_, {}, manifest);
  const auto with = [&](const char* key) {
    auto other = manifest;
    other[key] = "other";
    return other;
  };
  EXPECT_NO_THROW(RunFolder::create(folder_, {}, manifest));
  EXPECT_NO_THROW(RunFolder::create(folder_, {}, {}));  // of an older program
  EXPECT_NO_THROW(RunFolder::create(folder_, {}, with("images_written")));
  EXPECT_THROW(RunFolder::create(folder_, {}, with("data_hash")), Error);
  EXPECT_THROW(RunFolder::create(folder_, {}, with("images_hash")), Error);
}

}  // namespace
}  // namespace partwise::runs
