#include "partwise/datasets/check.h"

#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/images/codec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

class CheckOfADataset : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    dataset_.root = folder_;
    dataset_.categories = {{1, "fox", {"head", "tail"}, {"eye", "foot"}}};
    for (int64_t i = 0; i < 4; ++i) {
      const auto name = fmt::format("i{}.png", i);
      write_file_atomically(folder_ / name, images::encode_png(images::Image::blank(
                                                10, 10, static_cast<uint8_t>(i))));
      dataset_.images.push_back({i, name, 10, 10});
    }
    for (int64_t i = 0; i < 3; ++i) {
      Annotation fox;
      fox.id = fox.image_id = i;
      fox.category_id = 1;
      fox.bbox = {0.0, 0.0, 10.0, 10.0};
      fox.landmarks["eye"] = {{5.0 + static_cast<double>(i), 5.0}};
      if (i == 0) fox.landmarks["foot"] = {{1.0, 1.0}, {2.0, 2.0}};
      fox.parts["head"] = {fox.bbox, std::nullopt};
      dataset_.annotations.push_back(fox);
    }
    dataset_.splits = {{"train", {0, 1}}, {"test", {2, 3}}};
  }
  void TearDown() override { remove_folder(folder_); }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-check-test";
  PartDataset dataset_;
};

TEST_F(CheckOfADataset, CountsASoundOne) {
  const auto summary = check_dataset(dataset_, 2);
  EXPECT_TRUE(summary.sound());
  EXPECT_EQ(summary.images, 4);
  EXPECT_EQ(summary.negatives, 1);
  EXPECT_EQ(summary.annotations, 3);
  EXPECT_EQ(summary.splits.at("test"), 2);
  const auto& fox = summary.categories.at(0);
  EXPECT_EQ(fox.objects, 3);
  EXPECT_EQ(fox.parts.at("head"), 3);
  EXPECT_EQ(fox.parts.at("tail"), 0);
  EXPECT_EQ(fox.landmarks.at("eye").single_instance, 3);
  EXPECT_EQ(fox.landmarks.at("foot").objects, 1);
  EXPECT_EQ(fox.landmarks.at("foot").single_instance, 0);
  // Distances 0, 1, 2 of 10 pixels: deviation 0.1 of the side, divided by sqrt 2.
  EXPECT_NEAR(*fox.constant_centre_instability, 0.1 / std::sqrt(2.0), 1e-12);
  const auto json = to_json(summary);
  EXPECT_EQ(json["categories"]["fox"]["objects"], 3);
  EXPECT_EQ(json["sound"], true);
}

TEST_F(CheckOfADataset, FindsMissingTruncatedAndResizedFiles) {
  fs::remove(folder_ / "i0.png");
  const auto bytes = read_file(folder_ / "i1.png");
  write_file_atomically(folder_ / "i1.png", bytes.substr(0, bytes.size() / 2));
  write_file_atomically(folder_ / "i2.png", images::encode_png(images::Image::blank(3, 10)));
  const auto summary = check_dataset(dataset_);
  ASSERT_EQ(summary.missing.size(), 1U);
  EXPECT_EQ(summary.missing[0].file_name, "i0.png");
  ASSERT_EQ(summary.unreadable.size(), 1U);
  EXPECT_NE(summary.unreadable[0].reason.find("truncated PNG"), std::string::npos);
  ASSERT_EQ(summary.wrong_size.size(), 1U);
  EXPECT_NE(summary.wrong_size[0].reason.find("3 x 10"), std::string::npos);
  EXPECT_FALSE(summary.sound());
}

TEST_F(CheckOfADataset, AnImpossibleFileNameIsAMissingFile) {
  dataset_.images[0].file_name = std::string(100'000, 'x');
  EXPECT_EQ(check_dataset(dataset_).missing.size(), 1U);
}

TEST_F(CheckOfADataset, FindsLeaksByIdAndByContent) {
  dataset_.splits["train"].push_back(3);
  fs::copy_file(folder_ / "i0.png", folder_ / "i2.png", fs::copy_options::overwrite_existing);
  const auto summary = check_dataset(dataset_);
  ASSERT_EQ(summary.leaks.size(), 2U);
  EXPECT_EQ(to_json(summary)["leaks"].size(), 2U);
  EXPECT_EQ(summary.leaks[0].reason, "the same object in identical images");
  EXPECT_EQ(summary.leaks[0].first_file, "i2.png");
  EXPECT_EQ(summary.leaks[0].second_file, "i0.png");
  EXPECT_EQ(summary.leaks[1].reason, "the same image");
  EXPECT_EQ(summary.leaks[1].first_split, "test");
  EXPECT_EQ(summary.leaks[1].second_split, "train");
}

TEST_F(CheckOfADataset, TellsTwoObjectsOfOnePhotographFromOneObject) {
  fs::copy_file(folder_ / "i0.png", folder_ / "i2.png", fs::copy_options::overwrite_existing);
  dataset_.annotations[2].bbox.width = 5.0;
  const auto summary = check_dataset(dataset_);
  ASSERT_EQ(summary.leaks.size(), 1U);
  EXPECT_EQ(summary.leaks[0].reason, "identical content");
}

}  // namespace
}  // namespace partwise::datasets
