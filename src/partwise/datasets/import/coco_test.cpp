#include "partwise/datasets/import/import_fixture.h"

#include <nlohmann/json.hpp>

namespace partwise::datasets {
namespace {

using nlohmann::json;

class CocoImport : public ImportTest {
 protected:
  void SetUp() override {
    ImportTest::SetUp();
    file_ = {{"images",
              {{{"id", 5}, {"file_name", "a.jpg"}, {"width", 8}, {"height", 6}},
               {{"id", 6}, {"file_name", "b.jpg"}, {"width", 8}, {"height", 6}},
               {{"id", 7}, {"file_name", "c.jpg"}}}},
             {"categories",
              {{{"id", 1}, {"name", "fox"}, {"keypoints", {"nose", "tail"}}},
               {{"id", 2}, {"name", "paw"}}}},
             {"annotations",
              {{{"id", 10},
                {"image_id", 5},
                {"category_id", 1},
                {"bbox", {1, 1, 4, 4}},
                {"segmentation", {{1, 1, 5, 1, 5, 5, 1, 5}}},
                {"keypoints", {2, 3, 2, 4, 4, 1}}},
               {{"id", 11},
                {"image_id", 5},
                {"category_id", 2},
                {"obj_ann_id", 10},
                {"segmentation", {{1, 4, 3, 4, 3, 5, 1, 5}}}},
               {{"id", 12},
                {"image_id", 6},
                {"category_id", 1},
                {"iscrowd", 1},
                {"bbox", {0, 0, 8, 6}}}}}};
    photograph("images/a.jpg", 8, 6, 1);
    photograph("images/b.jpg", 8, 6, 2);
    photograph("images/c.jpg", 8, 6, 3);
  }

  [[nodiscard]] ImportReport imported() const {
    write("annotations.json", file_.dump());
    return import_dataset(request("coco"));
  }

  json file_;
};

TEST_F(CocoImport, KeypointsMasksAndPartAnnotationsComeOver) {
  const auto report = imported();
  ASSERT_EQ(report.dataset.annotations.size(), 1U);
  const auto& fox = report.dataset.annotations[0];
  EXPECT_EQ(mask_area(*fox.segmentation), 16);
  ASSERT_EQ(fox.landmarks.size(), 1U);  // the tail is not visible
  EXPECT_EQ(fox.landmarks.at("nose").at(0).y, 3.0);
  EXPECT_EQ(mask_area(*fox.parts.at("paw").segmentation), 2);
  EXPECT_EQ(fox.parts.at("paw").bbox->width, 2.0);
  ASSERT_EQ(report.dataset.categories.size(), 1U);  // paws are parts, not objects
}

TEST_F(CocoImport, ACrowdIsNeitherObjectNorNegative) {
  const auto report = imported();
  ASSERT_EQ(report.dataset.images.size(), 2U);
  EXPECT_EQ(report.dataset.images[0].id, 5);
  EXPECT_EQ(report.dataset.images[1].id, 7);  // not annotated at all: a negative
  EXPECT_EQ(count_by_kind(report.skipped).at(kObjectUnusable), 1);
}

TEST_F(CocoImport, ACrowdMayBeSaidInWords) {
  file_["annotations"][2]["iscrowd"] = true;
  EXPECT_EQ(imported().dataset.annotations.size(), 1U);
}

TEST_F(CocoImport, ASizeThatDoesNotFitIsNamed) {
  file_["images"][0]["width"] = 6;
  file_["images"][0]["height"] = 8;
  const auto report = imported();
  EXPECT_EQ(report.dataset.images.size(), 1U);
  EXPECT_EQ(count_by_kind(report.skipped).at(kAnnotationUnusable), 1);
}

TEST_F(CocoImport, ABrokenAnnotationCostsItsObjectOnly) {
  file_["annotations"].push_back(
      {{"id", 13}, {"image_id", 5}, {"category_id", 1}, {"bbox", {1, 1, "x", 4}}});
  const auto report = imported();
  EXPECT_EQ(report.dataset.annotations.size(), 1U);
  EXPECT_EQ(count_by_kind(report.skipped).at(kObjectUnusable), 2);
}

TEST_F(CocoImport, AFileListedTwiceIsTakenOnce) {
  file_["images"].push_back({{"id", 8}, {"file_name", "c.jpg"}});
  const auto report = imported();
  EXPECT_EQ(report.dataset.images.size(), 2U);
  EXPECT_EQ(count_by_kind(report.skipped).at(kAnnotationUnusable), 1);
}

TEST_F(CocoImport, AFileListedUnderTwoSpellingsIsTakenOnce) {
  file_["images"].push_back({{"id", 8}, {"file_name", "./c.jpg"}});
  const auto report = imported();
  ASSERT_EQ(report.dataset.images.size(), 2U);
  EXPECT_EQ(report.dataset.images[1].file_name, "images/c.jpg");
  EXPECT_EQ(count_by_kind(report.skipped).at(kAnnotationUnusable), 1);
}

TEST_F(CocoImport, AChangedAnnotationIsAnotherOriginal) {
  const auto out = imported().dataset.root;
  EXPECT_EQ(imported().dataset.annotations.size(), 1U);  // left as it is
  const auto unchanged = file_;
  const auto expect_refused = [&] {
    file_["annotations"][0]["bbox"] = {1, 1, 4, 3};
    EXPECT_NE(reason_of([&] { (void)imported(); }).find("(annotations)"), std::string::npos);
    file_ = unchanged;
  };
  expect_refused();
  write_json_atomically(out / "unfinished.json", read_json(out / "dataset.json")["info"]);
  std::filesystem::remove(out / "dataset.json");
  expect_refused();
  EXPECT_EQ(imported().dataset.annotations.size(), 1U);  // completed
}

TEST_F(CocoImport, BrokenFilesAreNamed) {
  for (const auto* pointer : {"/images/0/id", "/categories/0/name", "/annotations/0/category_id"}) {
    auto broken = file_;
    broken[json::json_pointer(pointer)] = json::array();
    write("annotations.json", broken.dump());
    EXPECT_NE(reason_of([&] { import_dataset(request("coco")); }).find("annotations.json"),
              std::string::npos);
  }
  write("annotations.json", "{}");
  EXPECT_NE(reason_of([&] { import_dataset(request("coco")); }).find("COCO"), std::string::npos);
  write("second.json", "{}");
  EXPECT_NE(reason_of([&] { import_dataset(request("coco")); }).find("second.json"),
            std::string::npos);
}

TEST_F(CocoImport, AFileWithoutAListIsRefused) {
  const auto whole = file_;
  for (const std::string key : {"annotations", "categories", "images"}) {
    file_ = whole;
    file_.erase(key);
    EXPECT_NE(reason_of([&] { (void)imported(); }).find("'" + key + "' is missing"),
              std::string::npos);
    file_[key] = nullptr;
    EXPECT_NE(reason_of([&] { (void)imported(); }), "nothing was wrong") << key;
  }
}

TEST_F(CocoImport, ACategoryWithoutObjectsIsNoted) {
  file_["categories"].push_back({{"id", 3}, {"name", "wolf"}});
  const auto note = note_with(imported(), "no objects");
  EXPECT_TRUE(note.starts_with("wolf has")) << note;  // paws are parts
}

TEST_F(CocoImport, AnObjectOfItsOwnMaySayThatItIsPartOfNothing) {
  file_["annotations"][0]["obj_ann_id"] = nullptr;
  EXPECT_EQ(imported().dataset.annotations.size(), 1U);
  file_["annotations"][1]["obj_ann_id"] = "ten";
  EXPECT_NE(reason_of([&] { (void)imported(); }).find("obj_ann_id"), std::string::npos);
}

TEST_F(CocoImport, WhatIsNeitherCrowdNorObjectIsNamed) {
  for (const json& crowd : {json("1"), json(2), json::array()}) {
    file_["annotations"][2]["iscrowd"] = crowd;
    auto again = request("coco");
    again.out = root_ / fmt::format("{}", crowd.type_name());
    write("annotations.json", file_.dump());
    const auto report = import_dataset(again);
    EXPECT_EQ(report.dataset.annotations.size(), 1U);
    EXPECT_EQ(report.dataset.images.size(), 2U);
    EXPECT_NE(report.skipped.at(0).reason.find("iscrowd"), std::string::npos);
  }
  file_["annotations"][2]["iscrowd"] = nullptr;
  EXPECT_EQ(imported().dataset.annotations.size(), 2U);
}

TEST_F(CocoImport, ImagesAreFoundBesideAnAnnotationsFolder) {
  write("annotations/instances.json", file_.dump());
  std::filesystem::rename(source_ / "images", source_ / "train2017");
  EXPECT_EQ(import_dataset(request("coco")).dataset.images.size(), 2U);
}

TEST_F(CocoImport, IsRefusedInOneShortLineOrNamedWhateverTheFileHolds) {
  const auto text = "w\npartwise: all is well \x1B[2J" + std::string(100'000, 'x');
  const auto sound = file_;
  for (const auto* pointer : {"/images/0/file_name", "/images/0/id", "/categories/0/name",
                              "/annotations/0/bbox", "/categories/0/keypoints"}) {
    file_ = sound;
    file_[json::json_pointer(pointer)] = text;
    file_["categories"][1]["name"] = text;  // where a name alone is no mistake, it stands twice
    try {
      EXPECT_FALSE(imported().skipped.empty()) << pointer;  // data; say() makes lines of it
    } catch (const Error& error) {
      const std::string said = error.what();
      EXPECT_LT(said.size(), 700U) << pointer;
      EXPECT_EQ(said.find_first_of("\n\x1B"), std::string::npos) << said;
    }
  }
}

}  // namespace
}  // namespace partwise::datasets
