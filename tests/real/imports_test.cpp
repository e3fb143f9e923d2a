#include "partwise/base/removal.h"
#include "partwise/datasets/check.h"
#include "partwise/datasets/import/import.h"
#include "partwise/datasets/import/truth_file.h"
#include "partwise/formats/matlab.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

const char* real_data() {
  return std::getenv("PARTWISE_REAL_DATA");
}

// Imports one sample into a folder of its own, once for all the tests of a suite.
struct Imported {
  explicit Imported(const std::string& format, const std::string& protocol = "clean") {
    if (real_data() == nullptr || !formats::matlab73_supported()) return;
    folder = fs::path(testing::TempDir()) / ("partwise-real-" + format + "-" + protocol);
    remove_folder(folder);
    ImportRequest request;
    request.format = format;
    request.source = fs::path(real_data()) / format;
    request.out = folder;
    request.options.protocol = from_word<Protocol>("protocol", protocol);
    report = import_dataset(request);
    summary = check_dataset(report.dataset);
    for (const auto& category : summary.categories) categories[category.name] = category;
  }
  ~Imported() { remove_folder(folder); }
  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;

  fs::path folder;
  ImportReport report;
  DatasetSummary summary;
  std::map<std::string, CategorySummary> categories;
};

#define SKIP_WITHOUT_DATA()                                                    \
  if (real_data() == nullptr) GTEST_SKIP() << "PARTWISE_REAL_DATA is not set"; \
  if (!formats::matlab73_supported()) GTEST_SKIP() << "built without HDF5"

class RealAnimalPart : public testing::Test {
 protected:
  static const Imported& imported() {
    static const Imported imported("animal-part");
    return imported;
  }
};

struct Expected {
  const char* name;
  int64_t objects;
  int64_t heads;
  int64_t front_legs;
  double centre;
};
constexpr Expected kAnimals[] = {{"fox", 286, 211, 143, 0.0696},
                                 {"cat", 529, 192, 130, 0.0773},
                                 {"squirrel", 276, 215, 207, 0.0734},
                                 {"cattle", 230, 177, 112, 0.0722},
                                 {"sheep", 217, 159, 95, 0.0677}};

TEST_F(RealAnimalPart, HasTheKnownCounts) {
  SKIP_WITHOUT_DATA();
  EXPECT_EQ(imported().summary.images, 2038);
  EXPECT_EQ(imported().summary.negatives, 500);
  EXPECT_TRUE(imported().report.skipped.empty());
  ASSERT_EQ(imported().categories.size(), 5U);
  for (const auto& animal : kAnimals) {
    const auto& found = imported().categories.at(animal.name);
    EXPECT_EQ(found.objects, animal.objects) << animal.name;
    EXPECT_EQ(found.landmarks.at("head").single_instance, animal.heads) << animal.name;
    EXPECT_EQ(found.landmarks.at("front legs").single_instance, animal.front_legs) << animal.name;
  }
}

// Boxes, axes and units together: swap or shift any of them and the figure moves.
TEST_F(RealAnimalPart, TheConstantCentreScoresTheKnownInstability) {
  SKIP_WITHOUT_DATA();
  for (const auto& animal : kAnimals) {
    // The known figures have four digits.
    EXPECT_NEAR(*imported().categories.at(animal.name).constant_centre_instability, animal.centre,
                0.5e-4 + 1e-9)
        << animal.name;
  }
}

TEST_F(RealAnimalPart, BoxesOfBothFilesAgree) {
  SKIP_WITHOUT_DATA();
  const auto records =
      read_truth_file(fs::path(real_data()) / "animal-part/truth/n02121808/truth_part01.mat");
  std::vector<const Annotation*> cats;
  for (const auto& object : imported().report.dataset.annotations) {
    if (object.category_id == 10) cats.push_back(&object);
  }
  ASSERT_EQ(cats.size(), records.size());
  for (std::size_t i = 0; i < cats.size(); ++i) {
    if (!records[i].box) continue;
    const auto box = box_from_inclusive(*records[i].box);
    EXPECT_EQ(box.x, cats[i]->bbox.x) << i;
    EXPECT_EQ(box.y, cats[i]->bbox.y) << i;
    EXPECT_EQ(box.width, cats[i]->bbox.width) << i;
    EXPECT_EQ(box.height, cats[i]->bbox.height) << i;
  }
}

TEST_F(RealAnimalPart, ACleanSplitLeaksNothing) {
  SKIP_WITHOUT_DATA();
  EXPECT_TRUE(imported().summary.sound());
  EXPECT_NEAR(static_cast<double>(imported().summary.splits.at("test")), 0.2 * 2038, 3.0);
}

// One file an object: photographs of two animals are in the original twice.
TEST(RealPaperSplit, LeaksPhotographsOfTwoObjects) {
  SKIP_WITHOUT_DATA();
  const Imported imported("animal-part", "paper");
  EXPECT_EQ(imported.summary.splits.at("train"), 257 + 476 + 248 + 207 + 195 + 450);
  EXPECT_EQ(imported.summary.leaks.size(), 30U);
}

TEST(RealCub200, HasTheSamplesImagesLandmarksAndSplit) {
  SKIP_WITHOUT_DATA();
  const Imported imported("cub200", "paper");
  EXPECT_EQ(imported.summary.images, 312);
  EXPECT_EQ(imported.summary.annotations, 312);
  EXPECT_EQ(imported.categories.size(), 12U);
  EXPECT_EQ(imported.summary.splits.at("train"), 150);
  EXPECT_EQ(imported.summary.splits.at("test"), 162);
  int64_t visible = 0;
  for (const auto& [name, category] : imported.categories) {
    EXPECT_EQ(category.objects, 26) << name;
    EXPECT_EQ(category.landmarks.size(), 15U) << name;
    for (const auto& [landmark, count] : category.landmarks) visible += count.single_instance;
  }
  EXPECT_EQ(visible, 3759);  // lines of part_locs.txt that end in 1
  EXPECT_TRUE(imported.summary.sound());
}

TEST(RealVocPart, HasTheSamplesObjectsAndParts) {
  SKIP_WITHOUT_DATA();
  const Imported imported("voc-part");
  EXPECT_EQ(imported.summary.images, 174);
  const std::map<std::string, int64_t> objects{
      {"aeroplane", 1}, {"bird", 104}, {"boat", 1},     {"bottle", 3}, {"bus", 1},
      {"car", 5},       {"cat", 102},  {"chair", 7},    {"dog", 3},    {"horse", 1},
      {"person", 19},   {"table", 1},  {"tvmonitor", 4}};
  ASSERT_EQ(imported.categories.size(), objects.size());
  for (const auto& [name, count] : objects) {
    EXPECT_EQ(imported.categories.at(name).objects, count) << name;
  }
  EXPECT_EQ(imported.categories.at("bird").parts.at("head"), 102);
  EXPECT_EQ(imported.categories.at("cat").parts.at("torso"), 100);
  EXPECT_EQ(imported.categories.at("dog").parts.at("front legs"), 3);
  EXPECT_EQ(imported.categories.at("horse").parts.count("tail"), 0U);
  EXPECT_EQ(imported.categories.at("cat").landmarks.at("neck").single_instance, 75);
  // The truth files describe 947 objects; most of their images are not in the sample.
  EXPECT_EQ(count_by_kind(imported.report.skipped).at(kImageAbsent), 641);
  EXPECT_TRUE(imported.summary.sound());
}

}  // namespace
}  // namespace partwise::datasets
