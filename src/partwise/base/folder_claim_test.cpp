#include "partwise/base/folder_claim.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/killed_writer_fixture.h"
#include "partwise/base/removal.h"

#include <gtest/gtest.h>

#include <set>

namespace partwise {
namespace {

namespace fs = std::filesystem;

class FolderClaim : public testing::Test {
 protected:
  void TearDown() override { remove_folder(folder_); }

  void claim() const { claim_folder(folder_, "mark.json", {{"seed", 1}}, "a run"); }

  [[nodiscard]] std::set<fs::path> names() const {
    std::set<fs::path> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }

  // It is refused, and holds what it held.
  void expect_refused(const std::string& why = "exists and is not a run") const {
    const auto before = names();
    try {
      claim();
      ADD_FAILURE() << "was not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
    EXPECT_EQ(names(), before);
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-folder-claim-test";
};

TEST_F(FolderClaim, OfANewOrAnEmptyFolderPutsItsMarkThere) {
  claim();
  EXPECT_EQ(read_json(folder_ / "mark.json").at("seed"), 1);
  fs::remove(folder_ / "mark.json");
  claim();
  EXPECT_EQ(names(), std::set<fs::path>{"mark.json"});
}

TEST_F(FolderClaim, IsMadeAgainWhereAKilledProcessLeftTheMarkHalfWritten) {
  fs::create_directories(folder_);
  be_killed_while_writing(folder_ / "mark.json");
  claim();
  EXPECT_EQ(names(), std::set<fs::path>{"mark.json"});
}

TEST_F(FolderClaim, OfAFolderWithOtherThingsTakesNothingAway) {
  fs::create_directories(folder_);
  be_killed_while_writing(folder_ / "thesis.txt");
  expect_refused();
  be_killed_while_writing(folder_ / "mark.json");
  expect_refused();
  remove_folder(folder_);
  fs::create_directories(folder_ / "mark.json.tmp1" / "precious");
  expect_refused();
  remove_folder(folder_);
  write_file_atomically(folder_, "no folder");
  EXPECT_THROW(claim(), Error);
  EXPECT_EQ(read_file(folder_), "no folder");
}

TEST_F(FolderClaim, IsRefusedWhereAnotherProcessIsMakingOne) {
  fs::create_directories(folder_);
  const StagedFile draft(folder_ / "mark.json");
  expect_refused("if none does, remove " + (folder_ / "mark.json.tmp").string());
}

}  // namespace
}  // namespace partwise
