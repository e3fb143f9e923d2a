#include "partwise/models/run_data.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/overheard_fixture.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/synthetic_animals.h"

#include <gtest/gtest.h>

namespace partwise::models {
namespace {

namespace fs = std::filesystem;

class RunData : public testing::Test {
 protected:
  void SetUp() override {
    datasets::SyntheticOptions options;
    options.images = 4;
    options.categories = 2;
    options.size = 48;
    dataset_ = datasets::write_synthetic_animals(root_ / "animals", options, 1);
  }
  void TearDown() override { remove_folder(root_); }

  runs::RunFolder run(const nlohmann::json& manifest) const {
    return runs::RunFolder::create(root_ / "run", {}, manifest);
  }
  runs::RunFolder run() const { return run(data_record(dataset_)); }
  fs::path photograph() const { return dataset_.root / dataset_.images.front().file_name; }
  void write_anew(const fs::path& file, const std::string& more) const {
    const auto written = fs::last_write_time(file);
    write_file_atomically(file, read_file(file) + more);
    fs::last_write_time(file, written + std::chrono::seconds(1));
  }
  // Refused as it is, used with one line where it is named.
  void expect_noticed(const std::string& words) const {
    const auto one = runs::RunFolder::open(root_ / "run");
    try {
      data_of(one);
      ADD_FAILURE() << "not refused";
    } catch (const Error& refused) {
      EXPECT_NE(std::string(refused.what()).find(words), std::string::npos) << refused.what();
    }
    expect_one_line(dataset_.root, words);
  }
  void expect_one_line(const fs::path& given, const std::string& words) const {
    const Overheard heard;
    data_of(runs::RunFolder::open(root_ / "run"), given);
    ASSERT_EQ(heard.lines().size(), 1U);
    EXPECT_NE(heard.lines()[0].find(words), std::string::npos) << heard.lines()[0];
  }

  fs::path root_ = fs::path(testing::TempDir()) / "partwise-run-data-test";
  datasets::PartDataset dataset_;
};

TEST_F(RunData, UnchangedIsUsedWithoutAWord) {
  const auto one = run();
  const Overheard heard;
  EXPECT_EQ(data_of(one).images.size(), dataset_.images.size());
  EXPECT_EQ(data_of(one, dataset_.root).images.size(), dataset_.images.size());
  EXPECT_TRUE(heard.lines().empty());
}

TEST_F(RunData, ThatDividesItsImagesAnewIsRefusedUnlessNamed) {
  run();
  auto changed = dataset_;
  std::swap(changed.splits.at("train"), changed.splits.at("test"));
  datasets::save_dataset(changed);
  expect_noticed("dataset.json");
}

TEST_F(RunData, WithAnotherPhotographIsRefusedUnlessNamed) {
  run();
  write_anew(photograph(), "more");
  expect_noticed("image files");
}

TEST_F(RunData, WithoutAPhotographIsRefusedUnlessNamed) {
  run();
  fs::remove(photograph());
  expect_noticed("image files");
}

TEST_F(RunData, WrittenAnewInTheSameSizesIsUsedWithALine) {
  run();
  write_anew(photograph(), "");
  expect_one_line({}, "written anew");
}

TEST_F(RunData, OfAnOlderProgramsRunIsUsedWithALine) {
  run({{"data", dataset_.root.string()}});
  expect_one_line({}, "older program");
}

TEST_F(RunData, InAnotherPlaceIsUsedWithALineWhereItsDescriptionIsAnother) {
  (void)run();
  fs::copy(dataset_.root, root_ / "moved", fs::copy_options::recursive);
  {
    const Overheard heard;
    data_of(runs::RunFolder::open(root_ / "run"), root_ / "moved");
    EXPECT_TRUE(heard.lines().empty());
  }
  const auto file = root_ / "moved" / "dataset.json";
  auto text = read_file(file);
  const auto digit = text.find_first_of("123456789", text.find("bbox"));
  text[digit] = text[digit] == '9' ? '8' : '9';
  write_file_atomically(file, text);
  expect_one_line(root_ / "moved", "of the same sizes as those it was trained on, but");
}

TEST_F(RunData, InAnotherPlaceIsUsedWithALineWhereItsPhotographsAreOthers) {
  (void)run();
  fs::copy(dataset_.root, root_ / "others", fs::copy_options::recursive);
  write_anew(root_ / "others" / dataset_.images.front().file_name, "more");
  expect_one_line(root_ / "others", "of other sizes than those it was trained on, though");
}

TEST_F(RunData, OfAnotherKindIsUsedWithoutAWord) {
  const auto one = run();
  datasets::SyntheticOptions options;
  options.images = 4;
  options.categories = 2;
  options.size = 48;
  options.seed = 5;
  const auto others = datasets::write_synthetic_animals(root_ / "others", options, 1);
  const Overheard heard;
  EXPECT_EQ(data_of(one, others.root).root, others.root);
  EXPECT_TRUE(heard.lines().empty());
}

TEST_F(RunData, ThatIsOpenIsHeldToTheRunLikewise) {
  const auto one = run();
  EXPECT_TRUE(is_its_own(one, dataset_));
  write_anew(photograph(), "more");
  EXPECT_THROW(hold_to_its_data(one, dataset_, false), Error);
  const Overheard heard;
  hold_to_its_data(one, dataset_, true);
  EXPECT_EQ(heard.lines().size(), 1U);
  auto elsewhere = dataset_;
  elsewhere.root = root_;
  EXPECT_FALSE(is_its_own(one, elsewhere));
}

}  // namespace
}  // namespace partwise::models
