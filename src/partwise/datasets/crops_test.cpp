#include "partwise/datasets/crops.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/images/codec.h"

#include <gtest/gtest.h>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

class CropsOfADataset : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    auto image = images::Image::blank(8, 6, 10);
    for (int64_t y = 1; y < 5; ++y) {
      for (int64_t x = 2; x < 6; ++x) image.at(x, y)[0] = 200;
    }
    write_file_atomically(folder_ / "a.png", images::encode_png(image));
    write_file_atomically(folder_ / "b.png", images::encode_png(images::Image::blank(8, 6, 90)));
    dataset_.root = folder_;
    dataset_.images = {{1, "a.png", 8, 6}, {2, "b.png", 8, 6}};
    dataset_.categories = {{1, "thing", {}, {}}};
    Annotation thing;
    thing.id = thing.image_id = thing.category_id = 1;
    thing.bbox = {2.2, 0.8, 3.9, 4.1};
    dataset_.annotations = {thing};
    dataset_.splits = {{"train", {2, 1}}, {"test", {}}};
  }
  void TearDown() override { remove_folder(folder_); }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-crops-test";
  PartDataset dataset_;
};

TEST_F(CropsOfADataset, SplitsGiveObjectsAndOnRequestNegatives) {
  const auto objects = samples_of_split(dataset_, "train", false);
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ(objects[0].image_index, 0);
  EXPECT_EQ(objects[0].annotation_index, 0);
  const auto all = samples_of_split(dataset_, "train", true);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].annotation_index, -1);
  EXPECT_TRUE(samples_of_split(dataset_, "test", true).empty());
  try {
    samples_of_split(dataset_, "tests", true);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("test, train"), std::string::npos);
  }
}

TEST_F(CropsOfADataset, AllIsEverySplitTogetherUnlessASplitIsCalledSo) {
  dataset_.splits = {{"train", {2}}, {"test", {1, 2}}};
  const auto both = samples_of_split(dataset_, "all", true);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].image_index, 0);
  EXPECT_EQ(both[1].image_index, 1);
  dataset_.splits["all"] = {1};
  EXPECT_EQ(samples_of_split(dataset_, "all", true).size(), 1U);
}

TEST_F(CropsOfADataset, ShowTheBoxAsPlanes) {
  const auto crops = load_crops(dataset_, {{0, 0}, {1, -1}}, {.side = 4, .threads = 2});
  ASSERT_EQ(crops.pixels.size(), 2U * 3 * 16);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(crops.pixels[i], 200);      // the box rounds to exactly the red square
    EXPECT_EQ(crops.pixels[16 + i], 10);  // green plane
    EXPECT_EQ(crops.pixels[48 + i], 90);  // the negative: the whole second image
  }
}

TEST_F(CropsOfADataset, AnUnreadableOrResizedImageIsNamed) {
  write_file_atomically(folder_ / "a.png", "nonsense");
  try {
    load_crops(dataset_, {{0, 0}}, {.side = 4, .threads = 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a.png"), std::string::npos);
  }
  write_file_atomically(folder_ / "a.png", images::encode_png(images::Image::blank(7, 6)));
  EXPECT_THROW(load_crops(dataset_, {{0, 0}}, {.side = 4, .threads = 1}), Error);
}

class CropsOfACache : public CropsOfADataset {
 protected:
  Crops crops(int64_t side = 4) const {
    return load_crops(dataset_, {{0, 0}, {1, -1}},
                      {.side = side, .threads = 2, .cache = {folder_ / "cache", 1'000'000}});
  }
  static std::vector<uint8_t> bytes(const Crops& crops) {
    return {crops.pixels.begin(), crops.pixels.end()};
  }
};

TEST_F(CropsOfACache, AreTheSameAndDecodedOnce) {
  const auto plain = load_crops(dataset_, {{0, 0}, {1, -1}}, {.side = 4, .threads = 1});
  EXPECT_FALSE(plain.prepared_before);
  const auto first = crops();
  const auto second = crops();
  EXPECT_FALSE(first.prepared_before);
  EXPECT_TRUE(second.prepared_before);
  EXPECT_EQ(bytes(first), bytes(plain));
  EXPECT_EQ(bytes(second), bytes(plain));
}

TEST_F(CropsOfACache, AreRecognisedByContentBoxAndSide) {
  crops();
  EXPECT_FALSE(crops(5).prepared_before);
  dataset_.annotations[0].bbox.x = 0.0;
  EXPECT_FALSE(crops().prepared_before);
  dataset_.annotations[0].bbox.x = 2.2;
  EXPECT_TRUE(crops().prepared_before);
  const auto stamp = fs::last_write_time(folder_ / "b.png");
  write_file_atomically(folder_ / "b.png", images::encode_png(images::Image::blank(8, 6, 91)));
  fs::last_write_time(folder_ / "b.png", stamp);  // content counts, not dates
  const auto changed = crops();
  EXPECT_FALSE(changed.prepared_before);
  EXPECT_EQ(changed.pixels[48], 91);
  fs::copy(folder_ / "a.png", folder_ / "c.png");
  dataset_.images[0].file_name = "c.png";
  EXPECT_TRUE(crops().prepared_before);
}

TEST_F(CropsOfACache, AnUnreadableImageIsStillNamed) {
  write_file_atomically(folder_ / "a.png", "nonsense");
  EXPECT_THROW(crops(), Error);
  fs::remove(folder_ / "a.png");
  EXPECT_THROW(crops(), Error);
}

TEST(CropGeometry, WindowsAreWholeAndInside) {
  const auto inside = window_from_box({-3.0, 1.4, 5.0, 100.0}, 10, 8);
  EXPECT_EQ(inside.x, 0);
  EXPECT_EQ(inside.width, 2);
  EXPECT_EQ(inside.y, 1);
  EXPECT_EQ(inside.height, 7);
  for (const Box& box :
       {Box{3.1, 3.1, 0.01, 0.01}, Box{9.9, 7.9, 5.0, 5.0}, Box{-9.0, -9.0, 9.0, 9.0}}) {
    const auto window = window_from_box(box, 10, 8);
    EXPECT_GE(window.width, 1);
    EXPECT_GE(window.height, 1);
    EXPECT_LE(window.x + window.width, 10);
    EXPECT_LE(window.y + window.height, 8);
  }
}

TEST(CropGeometry, PointsAndMasksFollowTheBox) {
  const Box box{2.0, 1.0, 4.0, 2.0};
  const auto point = crop_from_image({4.0, 1.5}, box, 8);
  EXPECT_DOUBLE_EQ(point.x, 4.0);
  EXPECT_DOUBLE_EQ(point.y, 2.0);
  std::vector<uint8_t> pixels(32, 0);
  pixels[11] = 1;  // image pixel (3, 1)
  const auto crop = crop_mask(encode_mask(pixels, 8, 4), box, 4);
  // Crop columns are 1 image pixel wide, rows half a pixel high: (3, 1) fills column 1, rows 0, 1.
  const std::vector<uint8_t> expected{0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(crop, expected);
}

}  // namespace
}  // namespace partwise::datasets
