#include "partwise/datasets/synthetic_animals.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/check.h"
#include "partwise/datasets/crops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 96;

int64_t count_of(const std::vector<uint8_t>& mask) {
  return std::accumulate(mask.begin(), mask.end(), int64_t{0});
}

// Every scene of a small sample with its category.
template <typename Visit>
void for_each_scene(int64_t count, const Visit& visit) {
  for (std::size_t category = 0; category < synthetic_categories().size(); ++category) {
    for (int64_t index = 0; index < count; ++index) {
      visit(draw_scene(static_cast<int64_t>(category), index, kSide, 11),
            synthetic_categories()[category]);
    }
  }
}

TEST(SyntheticScene, EveryCategoryHasFourPartsAndTheSharedLandmarks) {
  EXPECT_EQ(synthetic_categories().size(), 6U);
  for (const auto& category : synthetic_categories()) {
    EXPECT_GE(category.parts.size(), 4U) << category.name;
    for (const auto* landmark : {"head", "torso", "tail"}) {
      EXPECT_NE(std::find(category.landmarks.begin(), category.landmarks.end(), landmark),
                category.landmarks.end())
          << category.name;
    }
  }
}

TEST(SyntheticScene, PartMasksAreDisjointAndInsideTheObject) {
  for_each_scene(12, [](const Scene& scene, const Category& category) {
    const auto object = decode_mask(*scene.annotation.segmentation);
    std::vector<int> owners(object.size(), 0);
    for (const auto& [name, region] : scene.annotation.parts) {
      EXPECT_NE(std::find(category.parts.begin(), category.parts.end(), name),
                category.parts.end());
      const auto part = decode_mask(*region.segmentation);
      EXPECT_GT(count_of(part), 0) << category.name << " " << name;
      for (std::size_t i = 0; i < part.size(); ++i) {
        owners[i] += part[i];
        ASSERT_LE(part[i], object[i]) << category.name << " " << name;
      }
    }
    EXPECT_LE(*std::max_element(owners.begin(), owners.end()), 1) << category.name;
  });
}

TEST(SyntheticScene, BoxHoldsEveryVisiblePixelWithAModestMargin) {
  for_each_scene(12, [](const Scene& scene, const Category& category) {
    const auto& box = scene.annotation.bbox;
    EXPECT_GE(box.x, 0.0);
    EXPECT_GE(box.y, 0.0);
    EXPECT_LE(box.x + box.width, static_cast<double>(kSide));
    EXPECT_LE(box.y + box.height, static_cast<double>(kSide));
    const auto object = decode_mask(*scene.annotation.segmentation);
    double left = kSide;
    double right = 0.0;
    for (int64_t y = 0; y < kSide; ++y) {
      for (int64_t x = 0; x < kSide; ++x) {
        if (object[static_cast<std::size_t>(y * kSide + x)] == 0) continue;
        left = std::min(left, static_cast<double>(x));
        right = std::max(right, static_cast<double>(x + 1));
        ASSERT_GE(static_cast<double>(y), box.y) << category.name;
        ASSERT_LE(static_cast<double>(y + 1), box.y + box.height) << category.name;
      }
    }
    EXPECT_LE(box.x, left);
    EXPECT_GE(box.x + box.width, right);
    EXPECT_LE(box.width, (right - left) * 1.51 + 2.0);  // the margins and whole pixels
  });
}

// Mean over landmarks of the deviation of their distance to `peak` (in crops of side 1), over the
// images that show each of them once: the paper's location instability of a detector.
template <typename Peak>
double instability(const std::vector<Scene>& scenes, const Category& category, const Peak& peak) {
  double sum = 0.0;
  double landmarks = 0.0;
  for (const auto& name : category.landmarks) {
    std::vector<double> distances;
    for (const auto& scene : scenes) {
      const auto found = scene.annotation.landmarks.find(name);
      const auto at = peak(scene);
      if (found == scene.annotation.landmarks.end() || found->second.size() != 1 || !at) continue;
      const auto point = crop_from_image(found->second[0], scene.annotation.bbox, 1);
      distances.push_back(std::hypot(point.x - at->x, point.y - at->y) / std::sqrt(2.0));
    }
    if (distances.size() < 10) continue;
    const auto count = static_cast<double>(distances.size());
    const double mean = std::accumulate(distances.begin(), distances.end(), 0.0) / count;
    double squares = 0.0;
    for (const double distance : distances) squares += (distance - mean) * (distance - mean);
    sum += std::sqrt(squares / (count - 1.0));
    landmarks += 1.0;
  }
  return sum / landmarks;
}

TEST(SyntheticScene, KnowingWhereTheHeadIsBeatsGuessingTheCentre) {
  for (std::size_t category = 0; category < synthetic_categories().size(); ++category) {
    std::vector<Scene> scenes;
    for (int64_t index = 0; index < 60; ++index) {
      scenes.push_back(draw_scene(static_cast<int64_t>(category), index, 64, 3));
    }
    const auto& names = synthetic_categories()[category];
    const auto centre = [](const Scene&) { return std::optional<Point>({0.5, 0.5}); };
    const auto head = [](const Scene& scene) {
      const auto found = scene.annotation.landmarks.find("head");
      if (found == scene.annotation.landmarks.end()) return std::optional<Point>();
      return std::optional(crop_from_image(found->second[0], scene.annotation.bbox, 1));
    };
    EXPECT_LT(instability(scenes, names, head), 0.85 * instability(scenes, names, centre))
        << names.name;
  }
}

TEST(SyntheticScene, LandmarksLieOnVisiblePixelsOfTheObject) {
  std::map<std::string, int64_t> heads;
  for_each_scene(20, [&](const Scene& scene, const Category& category) {
    const auto object = decode_mask(*scene.annotation.segmentation);
    for (const auto& [name, points] : scene.annotation.landmarks) {
      EXPECT_NE(std::find(category.landmarks.begin(), category.landmarks.end(), name),
                category.landmarks.end());
      for (const auto& point : points) {
        const auto x = static_cast<int64_t>(std::floor(point.x));
        const auto y = static_cast<int64_t>(std::floor(point.y));
        ASSERT_TRUE(x >= 0 && y >= 0 && x < kSide && y < kSide);
        EXPECT_EQ(object[static_cast<std::size_t>(y * kSide + x)], 1) << category.name << name;
      }
    }
    heads[category.name] += static_cast<int64_t>(scene.annotation.landmarks.count("head"));
  });
  for (const auto& [name, seen] : heads) EXPECT_GE(seen, 12) << name;  // of 20; others are hidden
}

TEST(SyntheticScene, DependsOnItsArgumentsAlone) {
  const auto first = draw_scene(2, 5, 64, 1);
  draw_scene(0, 0, 64, 1);
  EXPECT_EQ(draw_scene(2, 5, 64, 1).image.pixels, first.image.pixels);
  EXPECT_NE(draw_scene(2, 6, 64, 1).image.pixels, first.image.pixels);
  EXPECT_NE(draw_scene(2, 5, 64, 2).image.pixels, first.image.pixels);
  EXPECT_EQ(draw_scene(-1, 5, 64, 1).annotation.landmarks.size(), 0U);
}

class SyntheticFolder : public testing::Test {
 protected:
  void SetUp() override { remove_folder(root_); }
  void TearDown() override { remove_folder(root_); }

  static std::map<std::string, std::string> bytes_under(const fs::path& folder) {
    std::map<std::string, std::string> bytes;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) {
        bytes[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
      }
    }
    return bytes;
  }

  fs::path root_ = fs::path(testing::TempDir()) / "partwise-synthetic-test";
  SyntheticOptions options_{
      .images = 4, .categories = 3, .size = 48, .test_share = 0.25, .seed = 5};
};

TEST_F(SyntheticFolder, SameBytesOnAnyNumberOfThreads) {
  write_synthetic_animals(root_ / "one", options_, 1);
  write_synthetic_animals(root_ / "three", options_, 3);
  const auto one = bytes_under(root_ / "one");
  EXPECT_EQ(one, bytes_under(root_ / "three"));
  EXPECT_EQ(one.size(), 4U * 4 + 1);  // three kinds and negatives, dataset.json, nothing else
}

TEST_F(SyntheticFolder, IsASoundStratifiedDataset) {
  const auto dataset = write_synthetic_animals(root_, options_, 1);
  const auto summary = check_dataset(dataset, 1);
  EXPECT_TRUE(summary.sound());
  EXPECT_EQ(summary.images, 16);
  EXPECT_EQ(summary.negatives, 4);
  EXPECT_EQ(summary.splits.at("train"), 12);
  EXPECT_EQ(summary.splits.at("test"), 4);
  std::set<int64_t> kinds;  // one test image of each kind
  for (const int64_t id : dataset.splits.at("test")) kinds.insert((id - 1) / options_.images);
  EXPECT_EQ(kinds.size(), 4U);
}

TEST_F(SyntheticFolder, AFinishedFolderIsLeftAlone) {
  write_synthetic_animals(root_, options_, 1);
  const auto stamp = fs::last_write_time(root_ / "dataset.json");
  const auto again = write_synthetic_animals(root_, options_, 1);
  EXPECT_EQ(again.images.size(), 16U);
  EXPECT_EQ(fs::last_write_time(root_ / "dataset.json"), stamp);
}

TEST_F(SyntheticFolder, AnInterruptedFolderIsCompleted) {
  write_synthetic_animals(root_ / "whole", options_, 1);
  fs::copy(root_ / "whole", root_ / "broken", fs::copy_options::recursive);
  const auto info = read_json(root_ / "broken" / "dataset.json")["info"];
  write_json_atomically(root_ / "broken" / "unfinished.json", info);
  fs::remove(root_ / "broken" / "dataset.json");
  fs::remove(root_ / "broken" / "images" / "fox-00001.png");
  write_file_atomically(root_ / "broken" / "images" / "fox-00002.png", "damaged");
  write_synthetic_animals(root_ / "broken", options_, 1);
  EXPECT_EQ(bytes_under(root_ / "broken"), bytes_under(root_ / "whole"));
  fs::remove(root_ / "broken" / "images" / "deer-00000.png");  // lost after it was finished
  write_synthetic_animals(root_ / "broken", options_, 1);
  EXPECT_EQ(bytes_under(root_ / "broken"), bytes_under(root_ / "whole"));
}

TEST_F(SyntheticFolder, SomeoneElsesFolderIsRefused) {
  fs::create_directories(root_ / "other");
  write_file_atomically(root_ / "other" / "thesis.txt", "precious");
  EXPECT_THROW(write_synthetic_animals(root_ / "other", options_, 1), Error);
  EXPECT_EQ(bytes_under(root_ / "other").size(), 1U);
  write_synthetic_animals(root_ / "mine", options_, 1);
  auto different = options_;
  different.seed = 6;
  EXPECT_THROW(write_synthetic_animals(root_ / "mine", different, 1), Error);
  EXPECT_THROW(write_synthetic_animals(root_ / "other" / "thesis.txt", options_, 1), Error);
}

TEST_F(SyntheticFolder, OptionsOutOfRangeAreRefused) {
  options_.categories = 7;
  EXPECT_THROW(write_synthetic_animals(root_, options_, 1), Error);
}

}  // namespace
}  // namespace partwise::datasets
