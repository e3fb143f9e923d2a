#include "partwise/base/error.h"
#include "partwise/datasets/import/import_fixture.h"
#include "partwise/formats/matlab_fixture.h"

namespace partwise::datasets {
namespace {

using formats::MatlabValue;
using namespace formats::fixture;

MatlabValue inclusive(double xmin, double ymin, double xmax, double ymax) {
  const auto number = [](double value) { return matlab_numbers(1, 1, {value}); };
  return matlab_structs({{{"xmin", number(xmin)},
                          {"ymin", number(ymin)},
                          {"xmax", number(xmax)},
                          {"ymax", number(ymax)}}});
}

MatlabFields truth(const std::vector<double>& centres, const std::vector<double>& scales) {
  const auto instances = centres.size() / 2;
  return {{"pHW_center", matlab_numbers(instances > 0 ? 2 : 0, instances, centres)},
          {"pHW_scale", matlab_numbers(instances > 0 ? 2 : 0, instances, scales)},
          {"obj", matlab_numbers(0, 0, {})}};
}

class AnimalPartImport : public ImportTest {
 protected:
  void SetUp() override {
    ImportTest::SetUp();
    write_boxes(122);
    write_heads(112.5);
    photograph("n02118333_obj/img/img/00001.jpg", 130, 90, 1);
    photograph("n02118333_obj/img/img/00002.jpg", 60, 60, 2);
    photograph("neg/00001.JPEG", 40, 40, 3);
  }

  void write_boxes(double first_right) const {
    const auto sample = [](const MatlabValue& box) {
      return MatlabFields{{"obj", matlab_structs({{{"bndbox", box}}})}};
    };
    write_matlab(source_ / "n02118333_obj/img/data.mat",
                 {{"samples", matlab_structs({sample(inclusive(11, 21, first_right, 76)),
                                              sample(inclusive(0, 1, 50, 50)),
                                              sample(inclusive(1, 1, 50, 50))})}},
                 MatlabVersion::v73);
  }

  // Row 112.5, column 112.5 is the middle of the crop; the second object shows two heads.
  void write_heads(double first_row) const {
    write_matlab(source_ / "truth/n02118333/truth_part01.mat",
                 {{"truth", matlab_structs({truth({first_row, 112.5}, {56.0, 112.0}),
                                            truth({10.0, 20.0, 30.0, 40.0}, {8.0, 8.0, 8.0, 8.0}),
                                            truth({}, {})})}},
                 MatlabVersion::v5);
  }
};

TEST_F(AnimalPartImport, BoxesAreInclusiveAndCropsCountFromOne) {
  const auto report = import_dataset(request("animal-part"));
  const auto& dataset = report.dataset;
  ASSERT_EQ(dataset.annotations.size(), 2U);
  const auto& fox = dataset.annotations[0];
  EXPECT_EQ(fox.bbox.x, 10.0);
  EXPECT_EQ(fox.bbox.y, 20.0);
  EXPECT_EQ(fox.bbox.width, 112.0);
  EXPECT_EQ(fox.bbox.height, 56.0);
  EXPECT_EQ(fox.landmarks.at("head").at(0).x, 10.0 + 56.0);
  EXPECT_EQ(fox.landmarks.at("head").at(0).y, 20.0 + 28.0);
  EXPECT_EQ(fox.parts.at("head").bbox->width, 56.0);
  EXPECT_EQ(fox.parts.at("head").bbox->height, 14.0);
  EXPECT_EQ(dataset.annotations[1].bbox.x, 0.0);  // an xmin of 0 means 1
}

TEST_F(AnimalPartImport, SeveralInstancesAreAllKept) {
  const auto dataset = import_dataset(request("animal-part")).dataset;
  const auto& pair = dataset.annotations.at(1);
  EXPECT_EQ(pair.landmarks.at("head").size(), 2U);
  EXPECT_TRUE(pair.parts.at("head").segmentation.has_value());
  EXPECT_EQ(pair.parts.count("front legs"), 0U);
}

TEST_F(AnimalPartImport, NamesNegativesAndAbsentImages) {
  const auto report = import_dataset(request("animal-part"));
  EXPECT_EQ(report.dataset.images.size(), 3U);
  EXPECT_EQ(report.dataset.images.back().file_name, "images/negatives/00001.JPEG");
  EXPECT_EQ(report.dataset.categories.at(0).name, "fox");
  EXPECT_EQ(count_by_kind(report.skipped).at(kImageAbsent), 1);
  auto by_id = request("animal-part");
  by_id.categories = {"n02118333"};
  by_id.out = root_ / "again";
  EXPECT_EQ(import_dataset(by_id).dataset.annotations.size(), 2U);
}

TEST_F(AnimalPartImport, ChangedBoxesOrPartsAreAnotherOriginal) {
  import_dataset(request("animal-part"));
  const auto expect_refused = [&] {
    EXPECT_NE(reason_of([&] { import_dataset(request("animal-part")); }).find("(annotations)"),
              std::string::npos);
  };
  write_heads(100.0);
  expect_refused();
  write_heads(112.5);
  EXPECT_EQ(import_dataset(request("animal-part")).dataset.images.size(), 3U);  // left as it is
  write_boxes(100);
  expect_refused();
}

TEST_F(AnimalPartImport, FilesThatDisagreeAreRefused) {
  write_matlab(source_ / "truth/n02118333/truth_part02.mat",
               {{"truth", matlab_structs({truth({}, {})})}}, MatlabVersion::v5);
  EXPECT_NE(reason_of([&] { import_dataset(request("animal-part")); }).find("truth_part02.mat"),
            std::string::npos);
  write("n02118333_obj/img/data.mat", "damaged");
  EXPECT_NE(reason_of([&] { import_dataset(request("animal-part")); }).find("data.mat"),
            std::string::npos);
}

}  // namespace
}  // namespace partwise::datasets
