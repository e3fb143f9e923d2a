#include "partwise/datasets/part_dataset.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/killed_writer_fixture.h"
#include "partwise/base/random.h"
#include "partwise/base/removal.h"

#include <gtest/gtest.h>

#include <fstream>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class PartDatasetFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { remove_folder(folder_); }

  [[nodiscard]] PartDataset example() const {
    PartDataset dataset;
    dataset.root = folder_;
    dataset.info["source"] = "hand";
    dataset.images = {{7, "images/a.png", 4, 3}, {9, "images/b.png", 4, 3}};
    dataset.categories = {{1, "fox", {"head", "tail"}, {"eye", "foot"}}};
    Annotation fox;
    fox.id = 3;
    fox.image_id = 7;
    fox.category_id = 1;
    fox.bbox = {0.5, 0.0, 3.0, 2.0};
    fox.segmentation = encode_mask({0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0}, 4, 3);
    fox.landmarks = {{"eye", {{1.25, 0.5}}}, {"foot", {{1.0, 2.0}, {2.0, 2.0}}}};
    fox.parts["head"] = {Box{1.0, 0.0, 1.0, 1.0},
                         encode_mask({0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 4, 3)};
    fox.parts["tail"] = {Box{2.0, 0.0, 1.0, 2.0}, std::nullopt};
    dataset.annotations = {fox};
    dataset.splits = {{"train", {7}}, {"test", {9}}};
    return dataset;
  }

  [[nodiscard]] json saved_example() const {
    save_dataset(example());
    return read_json(folder_ / "dataset.json");
  }

  [[nodiscard]] std::string reason(const json& value) const {
    std::ofstream(folder_ / "dataset.json") << value;  // thousands of times: no flush to disk
    try {
      load_dataset(folder_);
      return "loaded";
    } catch (const Error& error) {
      return error.what();
    }
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-part-dataset-test";
};

TEST_F(PartDatasetFile, ComesBackWhole) {
  const auto file = saved_example();
  const auto back = load_dataset(folder_);
  EXPECT_EQ(back.info["source"], "hand");
  EXPECT_EQ(back.info["format"], "partwise part-dataset");
  ASSERT_EQ(back.images.size(), 2U);
  EXPECT_EQ(back.images[1].file_name, "images/b.png");
  EXPECT_EQ(back.categories.at(0).landmarks, (std::vector<std::string>{"eye", "foot"}));
  const auto& fox = back.annotations.at(0);
  EXPECT_EQ(fox.bbox.x, 0.5);
  EXPECT_EQ(fox.landmarks.at("eye").size(), 1U);
  EXPECT_EQ(fox.landmarks.at("foot").at(1).x, 2.0);
  EXPECT_EQ(mask_area(*fox.parts.at("head").segmentation), 1);
  EXPECT_FALSE(fox.parts.at("tail").segmentation);
  EXPECT_EQ(back.splits.at("test"), std::vector<int64_t>{9});
  save_dataset(back);
  EXPECT_EQ(read_json(folder_ / "dataset.json"), file);
}

TEST_F(PartDatasetFile, LooksLikeCoco) {
  const auto file = saved_example();
  const auto& fox = file["annotations"][0];
  EXPECT_EQ(fox["area"], 4.0);
  EXPECT_EQ(fox["iscrowd"], 0);
  EXPECT_EQ(fox["segmentation"]["size"], json({3, 4}));
  EXPECT_EQ(fox["landmarks"]["eye"], json({1.25, 0.5}));
  EXPECT_EQ(fox["landmarks"]["foot"], json({{1.0, 2.0}, {2.0, 2.0}}));
}

TEST_F(PartDatasetFile, EachWrongReferenceIsNamed) {
  const auto good = saved_example();
  const auto broken = [&](const std::string& pointer, const json& value) {
    auto file = good;
    file[json::json_pointer(pointer)] = value;
    return reason(file);
  };
  const auto says = [&](const std::string& pointer, const json& value, const std::string& words) {
    const auto text = broken(pointer, value);
    EXPECT_NE(text.find(words), std::string::npos) << pointer << ": " << text;
    EXPECT_NE(text.find("dataset.json"), std::string::npos) << text;
  };
  says("/images/1/id", 7, "image id 7 is used twice");
  says("/images/0/id", "7", "whole number");
  says("/images/0/id", 18446744073709551615ULL, "too large");
  says("/images/0/width", 0, "image 7");
  says("/images/0/width", 9000000000000000000LL, "image 7");
  says("/images/0/width", 3, "on an image of");
  says("/images/0/file_name", "../../etc/passwd", "inside the dataset's folder");
  says("/images/0/file_name", "a/../../b.png", "inside the dataset's folder");
  says("/images/0/file_name", "/etc/passwd", "inside the dataset's folder");
  says("/images/0/file_name", "", "inside the dataset's folder");
  says("/images/0/file_name", json::array(), "file_name");
  says("/annotations/0/image_id", 8, "image_id: there is no 8");
  says("/annotations/0/category_id", 2, "category_id: there is no 2");
  says("/annotations/0/bbox", {0, 0, 1}, "annotation 3: bbox");
  says("/annotations/0/bbox/2", 0, "empty");
  says("/annotations/0/bbox/0", 1e300, "no coordinate");
  says("/annotations/0/bbox/0", 50, "outside");
  says("/annotations/0/bbox/0", nullptr, "expected a number");
  says("/annotations/0/landmarks/nose", {1, 1}, "'nose' is not declared");
  says("/annotations/0/landmarks/eye", {1, 1, 1}, "landmarks: eye");
  says("/annotations/0/landmarks", 5, "landmarks");
  says("/annotations/0/parts/wing", json::object(), "'wing' is not declared");
  says("/annotations/0/parts/tail", json::object(), "neither");
  says("/annotations/0/segmentation", {{1, 2, 3, 4}}, "polygons");
  says("/splits/train", {8}, "splits: train");
  says("/splits/train", {7, 7}, "listed twice");
  says("/splits", 1, "splits");
  says("/categories/0/parts", {"head", "head"}, "declared twice");
  says("/categories/0/name", 1, "expected text");
  says("/info/version", 2, "version 2");
  says("/info", {1}, "info");
  says("/images", json::object(), "images");
}

TEST_F(PartDatasetFile, AnyValueInAnyPlaceIsAnErrorOrADatasetNeverACrash) {
  const auto good = saved_example();
  const json strange[] = {nullptr,       true,           -1,     3.5, 1e18, "x",
                          json::array(), json::object(), {{{1}}}};
  const auto leaves = good.flatten();
  for (const auto& [pointer, leaf] : leaves.items()) {
    for (auto place = json::json_pointer(pointer); !place.empty(); place = place.parent_pointer()) {
      for (const auto& value : strange) {
        auto file = good;
        file[place] = value;
        EXPECT_FALSE(reason(file).empty());
      }
    }
  }
  for (const auto& value : strange) EXPECT_FALSE(reason(value).empty());
}

TEST_F(PartDatasetFile, IsBegunAnewWhereAKilledProcessLeftTheMarkHalfWritten) {
  be_killed_while_writing(folder_ / "unfinished.json");
  EXPECT_FALSE(begin_dataset(folder_, {{"source", "hand"}}));
  EXPECT_TRUE(fs::exists(folder_ / "unfinished.json"));
}

TEST_F(PartDatasetFile, AFolderThatIsRefusedIsLeftUntouched) {
  be_killed_while_writing(folder_ / "unfinished.json");
  be_killed_while_writing(folder_ / "unfinished.json of another program");
  EXPECT_THROW(begin_dataset(folder_, {{"source", "hand"}}), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(PartDatasetFile, AComplaintIsOneShortLineWhateverTheFileHolds) {
  auto changed = saved_example();
  changed["images"][0]["file_name"] = "../a\nforged: \x1B[2J" + std::string(100'000, 'x');
  const auto said = reason(changed);
  EXPECT_EQ(said.find_first_of("\n\x1B"), std::string::npos) << said.substr(0, 200);
  EXPECT_NE(said.find("inside the dataset's folder"), std::string::npos);
  EXPECT_LT(said.size(), 2000U);
}

TEST_F(PartDatasetFile, AFolderWithoutDatasetSaysSo) {
  EXPECT_THROW(load_dataset(folder_), Error);
  EXPECT_THROW(load_dataset(folder_ / "nowhere"), Error);
}

}  // namespace
}  // namespace partwise::datasets
