#include "partwise/datasets/import/import_fixture.h"
#include "partwise/datasets/import/voc_merges.h"
#include "partwise/formats/matlab_fixture.h"

namespace partwise::datasets {
namespace {

using formats::MatlabValue;
using namespace formats::fixture;

constexpr int64_t kWidth = 8;
constexpr int64_t kHeight = 6;

// Ones in columns [left, right) and rows [top, bottom).
MatlabValue block(int64_t left, int64_t top, int64_t right, int64_t bottom) {
  std::vector<uint8_t> pixels(static_cast<std::size_t>(kWidth * kHeight), 0);
  for (int64_t y = top; y < bottom; ++y) {
    for (int64_t x = left; x < right; ++x) pixels[static_cast<std::size_t>(y * kWidth + x)] = 1;
  }
  return matlab_mask(kHeight, kWidth, pixels);
}

MatlabFields part(const std::string& name, const MatlabValue& mask) {
  return {{"part_name", matlab_text(name)}, {"mask", mask}};
}

MatlabFields object(const std::string& name, const MatlabValue& mask, const MatlabValue& parts) {
  return {{"class", matlab_text(name)}, {"mask", mask}, {"parts", parts}};
}

// One object of a truth file; without a part the authors leave everything empty.
MatlabFields boxed(const std::string& file,
                   const std::vector<double>& centre,
                   const std::vector<double>& scale) {
  const auto rows = centre.size();
  const MatlabFields corners{{"xmin", matlab_text("2")},
                             {"ymin", matlab_text("1")},
                             {"xmax", matlab_text("7")},
                             {"ymax", matlab_text("5")}};
  const MatlabFields described{{"filename", matlab_text(file)},
                               {"bndbox", matlab_structs({corners})}};
  const auto box = centre.empty() ? matlab_numbers(0, 0, {}) : matlab_structs({described});
  return {{"pHW_center", matlab_numbers(rows, rows > 0 ? 1 : 0, centre)},
          {"pHW_scale", matlab_numbers(rows, rows > 0 ? 1 : 0, scale)},
          {"obj", box}};
}

class VocPartImport : public ImportTest {
 protected:
  void SetUp() override {
    ImportTest::SetUp();
    const auto cat_parts =
        matlab_structs({part("head", block(1, 1, 4, 3)), part("lear", block(1, 0, 2, 1)),
                        part("torso", block(3, 2, 7, 5)), part("neck", block(3, 2, 4, 3))});
    const auto car_parts =
        matlab_structs({part("wheel_1", block(0, 5, 1, 6)), part("wheel_2", block(4, 5, 5, 6))});
    const auto objects = matlab_structs(
        {object("cat", block(1, 0, 7, 5), cat_parts), object("car", block(0, 3, 5, 6), car_parts)});
    write_matlab(source_ / "Annotations_Part/2008_000001.mat",
                 {{"anno", matlab_structs(
                               {{{"imname", matlab_text("2008_000001")}, {"objects", objects}}})}},
                 MatlabVersion::v5);
    photograph("JPEGImages/2008_000001.jpg", kWidth, kHeight, 1);
  }
};

TEST_F(VocPartImport, MasksAreMergedAsInThePaper) {
  const auto dataset = import_dataset(request("voc-part")).dataset;
  ASSERT_EQ(dataset.annotations.size(), 2U);
  const auto& cat = dataset.annotations[0];
  EXPECT_EQ(cat.bbox.x, 1.0);
  EXPECT_EQ(cat.bbox.width, 6.0);
  EXPECT_EQ(mask_area(*cat.parts.at("head").segmentation), 6 + 1);
  EXPECT_EQ(cat.parts.at("head").bbox->y, 0.0);  // the ear belongs to it
  EXPECT_EQ(mask_area(*cat.parts.at("torso").segmentation), 12);
  EXPECT_EQ(cat.landmarks.at("head").at(0).x, 2.5);  // of the head alone
  EXPECT_EQ(cat.landmarks.at("neck").at(0).y, 2.5);
  const auto& car = dataset.annotations[1];
  EXPECT_EQ(mask_area(*car.parts.at("wheel").segmentation), 2);
  EXPECT_TRUE(car.landmarks.empty());
  EXPECT_EQ(dataset.categories.size(), 2U);
}

TEST_F(VocPartImport, AnotherChoiceOfCategoriesMakesNoNegatives) {
  auto dogs = request("voc-part");
  dogs.categories = {"dog"};
  EXPECT_NE(reason_of([&] { import_dataset(dogs); }).find("no image that can be used"),
            std::string::npos);
}

TEST_F(VocPartImport, AMaskOfAnotherSizeIsNamed) {
  photograph("JPEGImages/2008_000001.jpg", kWidth + 1, kHeight, 1);
  photograph("JPEGImages/2008_000002.jpg", kWidth, kHeight, 2);
  const auto objects = matlab_structs({object("cat", block(1, 0, 7, 5), matlab_numbers(0, 0, {}))});
  write_matlab(source_ / "Annotations_Part/2008_000002.mat",
               {{"anno", matlab_structs({{{"objects", objects}}})}}, MatlabVersion::v5);
  const auto report = import_dataset(request("voc-part"));
  EXPECT_EQ(report.dataset.images.size(), 1U);
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].kind, kAnnotationUnusable);
  EXPECT_NE(report.skipped[0].reason.find("2008_000001.mat"), std::string::npos);
}

TEST_F(VocPartImport, TheAuthorsBoxesAreUndoneExactly) {
  // A head over columns 3..5 and rows 1..3 of the object's 2..7 and 1..5, as the authors write it.
  const std::vector<double> centre{(2.0 - 1.0) / 4.0 * 224.0, (4.0 - 2.0) / 5.0 * 224.0};
  const std::vector<double> scale{2.0 / 4.0 * 224.0, 2.0 / 5.0 * 224.0};
  write_matlab(
      source_ / "truth/cat/truth_part01.mat",
      {{"truth", matlab_structs({boxed("2008_000003.jpg", centre, scale), boxed("", {}, {}),
                                 boxed("2008_000004.jpg", centre, scale)})}},
      MatlabVersion::v5);
  photograph("JPEGImages/2008_000003.jpg", kWidth, kHeight, 3);
  const auto report = import_dataset(request("voc-part"));
  const auto& cat = report.dataset.annotations.back();
  EXPECT_EQ(cat.bbox.x, 1.0);
  EXPECT_EQ(cat.bbox.width, 6.0);
  const auto& head = *cat.parts.at("head").bbox;
  EXPECT_NEAR(head.x, 2.0, 1e-9);
  EXPECT_NEAR(head.width, 3.0, 1e-9);
  EXPECT_NEAR(head.y, 0.0, 1e-9);
  EXPECT_NEAR(head.height, 3.0, 1e-9);
  EXPECT_NEAR(cat.landmarks.at("head").at(0).x, 3.5, 1e-9);
  const auto counts = count_by_kind(report.skipped);
  EXPECT_EQ(counts.at(kImageAbsent), 1);
  EXPECT_EQ(counts.at(kObjectUnusable), 1);
}

TEST_F(VocPartImport, AChangedMaskOrTruthFileIsAnotherOriginal) {
  const auto write_truth = [&](double width) {
    const auto cat = boxed("2008_000003.jpg", {112.0, 112.0}, {width, 112.0});
    write_matlab(source_ / "truth/cat/truth_part01.mat", {{"truth", matlab_structs({cat})}},
                 MatlabVersion::v5);
  };
  const auto expect_refused = [&] {
    EXPECT_NE(reason_of([&] { import_dataset(request("voc-part")); }).find("(annotations)"),
              std::string::npos);
  };
  photograph("JPEGImages/2008_000003.jpg", kWidth, kHeight, 3);
  write_truth(112.0);
  import_dataset(request("voc-part"));
  write_truth(56.0);
  expect_refused();
  write_truth(112.0);
  EXPECT_EQ(import_dataset(request("voc-part")).dataset.images.size(), 2U);  // left as it is
  const auto objects = matlab_structs({object("cat", block(1, 0, 6, 5), matlab_numbers(0, 0, {}))});
  write_matlab(source_ / "Annotations_Part/2008_000001.mat",
               {{"anno", matlab_structs({{{"objects", objects}}})}}, MatlabVersion::v5);
  expect_refused();
}

TEST(VocMerges, CoverThePapersAnimals) {
  EXPECT_EQ(merged_part("horse", "lfho"), "front legs");
  EXPECT_EQ(merged_part("cow", "rhorn"), "head");
  EXPECT_FALSE(merged_part("cow", "tail"));
  EXPECT_EQ(merged_part("dog", "muzzle"), "head");
  EXPECT_EQ(merged_part("bird", "lwing"), "torso");
  EXPECT_EQ(merged_part("person", "lfoot"), "lfoot");
  EXPECT_EQ(merged_part("train", "coach_12"), "coach");
  EXPECT_EQ(merged_parts("bird"), (std::vector<std::string>{"head", "torso", "legs", "tail"}));
}

}  // namespace
}  // namespace partwise::datasets
