#include "partwise/runs/explained_photographs.h"

#include "partwise/base/error.h"
#include "partwise/base/removal.h"

#include <gtest/gtest.h>

namespace partwise::runs {
namespace {

namespace fs = std::filesystem;

class Explained : public testing::Test {
 protected:
  void TearDown() override { remove_folder(folder_); }

  ExplainedPhotographs one() const {
    ExplainedPhotograph photograph{"typical", "right", "a <b>\n.png", "fox", "fox", 0.97,
                                   "deer",    0.02,    "strong",      4.5,   false};
    photograph.parts = {{"head", 3.0, "#e8590c"}, {"tail", -1.0, ""}};
    return {"by the seed", {{"epoch", 6}}, {photograph}};
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-explained-test";
  RunFolder run_ = RunFolder::create(folder_, {{"seed", 1}}, nlohmann::json::object());
};

TEST_F(Explained, PhotographsAreReadAsTheyWereRecorded) {
  EXPECT_TRUE(explained_photographs(run_).photographs.empty());
  record_explained(run_, one(), {"png"});
  const auto read = explained_photographs(run_);
  EXPECT_EQ(read.rule, "by the seed");
  EXPECT_EQ(read.made_of, one().made_of);
  ASSERT_EQ(read.photographs.size(), 1U);
  EXPECT_EQ(read.photographs[0].image, "a <b>\n.png");
  EXPECT_EQ(read.photographs[0].parts[1].share, -1.0);
  EXPECT_TRUE(read.photographs[0].right());
  EXPECT_EQ(read_file(read.photographs[0].file_in(folder_)), "png");
  forget_explained(run_);
  EXPECT_TRUE(explained_photographs(run_).photographs.empty());
}

TEST_F(Explained, PhotographsLeadOutOfNoFolderAndIntoNoStyle) {
  record_explained(run_, one(), {"png"});
  const auto list = folder_ / "explanations" / "explanations.json";
  const auto good = read_json(list);
  const auto refused = [&](const char* place, const nlohmann::json& value) {
    auto bad = good;
    bad["photographs"][0][nlohmann::json::json_pointer(place)] = value;
    write_json_atomically(list, bad);
    EXPECT_THROW(explained_photographs(run_), Error) << place;
  };
  refused("/name", "../../secret");
  refused("/parts/0/colour", "red;background:url(x)");
  refused("/probability", "high");
}

}  // namespace
}  // namespace partwise::runs
