#include "partwise/runs/drawn_figures.h"

#include "partwise/base/error.h"
#include "partwise/base/removal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace partwise::runs {
namespace {

class DrawnFigures : public testing::Test {
 protected:
  void TearDown() override { remove_folder(folder_); }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / "partwise-drawn-figures-test";
  RunFolder run_ = RunFolder::create(folder_, {{"seed", 1}}, {{"commit", "8808d85"}});
};

TEST_F(DrawnFigures, AreKeptInTheOrderTheyWereFirstDrawn) {
  EXPECT_TRUE(drawn_figures(run_).empty());
  record_figure(run_, {"filters", "Filters", "Of seed 1.", "foxes"}, "first");
  record_figure(run_, {"mask", "Mask", "One image.", ""}, "second");
  record_figure(run_, {"filters", "Filters", "Of seed 2.", "deer"}, "third");
  const auto figures = drawn_figures(run_);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].caption, "Of seed 2.");
  EXPECT_EQ(figures[0].alt, "deer");
  EXPECT_EQ(read_file(figures[0].file_in(folder_)), "third");
  EXPECT_EQ(figures[1].name, "mask");
}

TEST_F(DrawnFigures, OfTwoWhoDrawAtOnceAreAllKept) {
  const auto draw = [&](const std::string& whose) {
    for (int i = 0; i < 20; ++i)
      record_figure(run_, {whose + std::to_string(i), "Title", "Caption.", ""}, "picture");
  };
  std::thread other([&] { draw("hers"); });
  draw("his");
  other.join();
  EXPECT_EQ(drawn_figures(run_).size(), 40U);
}

TEST_F(DrawnFigures, AreStillTrueUntilWhatTheyWereMadeOfChanges) {
  const std::vector<std::filesystem::path> weights{folder_ / "weights", folder_ / "not there"};
  write_file_atomically(weights[0], "of epoch 1");
  EXPECT_FALSE(is_drawn_since(run_, "mask", weights));
  record_figure(run_, {"mask", "Mask", "One image.", ""}, "picture");
  EXPECT_TRUE(is_drawn_since(run_, "mask", weights));
  EXPECT_FALSE(is_drawn_since(run_, "filters", weights));
  const auto picture = folder_ / "figures" / "mask.png";
  last_write_time(weights[0], last_write_time(picture) + std::chrono::seconds(1));
  EXPECT_FALSE(is_drawn_since(run_, "mask", weights));
  record_figure(run_, {"mask", "Mask", "One image.", ""}, "picture");
  last_write_time(picture, last_write_time(weights[0]));
  EXPECT_TRUE(is_drawn_since(run_, "mask", weights));
  std::filesystem::remove(picture);
  EXPECT_FALSE(is_drawn_since(run_, "mask", weights));
}

TEST_F(DrawnFigures, KnowOfWhichMomentTheyAreWhereThatWasSaid) {
  record_figure(run_, {"mask", "Mask", "One image.", "", TrainingMoment{3, 7}}, "picture");
  record_figure(run_, {"filters", "Filters", "Of seed 1.", ""}, "picture");
  const auto figures = drawn_figures(run_);
  EXPECT_EQ(figures[0].moment, (TrainingMoment{3, 7}));
  EXPECT_EQ(words_for(*figures[0].moment), "epoch 3 and 7 steps");
  EXPECT_FALSE(figures[1].moment.has_value());
}

TEST_F(DrawnFigures, SayWhatIsDamaged) {
  record_figure(run_, {"mask", "Mask", "One image.", ""}, "picture");
  write_json_atomically(folder_ / "figures" / "figures.json", {{"figures", {{{"name", 3}}}}});
  EXPECT_THROW(drawn_figures(run_), Error);
}

}  // namespace
}  // namespace partwise::runs
