// What goes into an importer comes out, or is named: objects, landmarks and files.
#include "partwise/datasets/import/import_fixture.h"
#include "partwise/formats/matlab_fixture.h"

#include <nlohmann/json.hpp>

namespace partwise::datasets {
namespace {

using formats::fixture::matlab_mask;
using formats::fixture::matlab_numbers;
using formats::fixture::matlab_structs;
using formats::fixture::matlab_text;
using formats::fixture::MatlabFields;
using formats::fixture::MatlabVersion;
using formats::fixture::write_matlab;

class Accounting : public ImportTest {
 protected:
  static int64_t named(const ImportReport& report, const char* kind) {
    const auto counts = count_by_kind(report.skipped);
    const auto found = counts.find(kind);
    return found == counts.end() ? 0 : found->second;
  }

  // Names of landmarks, each once per object.
  static int64_t landmarks(const ImportReport& report) {
    int64_t count = 0;
    for (const auto& object : report.dataset.annotations) count += std::ssize(object.landmarks);
    return count;
  }

  static int64_t objects(const ImportReport& report) {
    return std::ssize(report.dataset.annotations);
  }

  void refuses_strictly(const std::string& format, const std::string& words) const {
    auto strict = request(format);
    strict.strict = true;
    strict.out = root_ / "strict";
    EXPECT_NE(reason_of([&] { import_dataset(strict); }).find(words), std::string::npos);
  }
};

TEST_F(Accounting, OfCocoNamesObjectsOfNoImageAndNoCategoryPartsOfNoObjectAndLandmarksOutside) {
  using nlohmann::json;
  const auto object = [](int64_t id, int64_t image, int64_t category, const json& keypoints) {
    return json{{"id", id},
                {"image_id", image},
                {"category_id", category},
                {"bbox", {0, 0, 8, 8}},
                {"keypoints", keypoints}};
  };
  auto part = object(5, 1, 1, json::array());
  part["obj_ann_id"] = 99;
  const json file{
      {"images", {{{"id", 1}, {"file_name", "a.jpg"}}, {{"id", 2}, {"file_name", "b.jpg"}}}},
      {"categories", {{{"id", 1}, {"name", "fox"}, {"keypoints", {"nose", "tail"}}}}},
      {"annotations",
       {object(1, 1, 1, {3, 3, 2, 900, 3, 2}), object(2, 2, 1, {3, 3, 2, 4, 4, 2}),
        object(3, 77, 1, json::array()), object(4, 1, 9, json::array()), part}}};
  write("annotations.json", file.dump());
  photograph("a.jpg", 8, 8, 1);
  photograph("b.jpg", 8, 8, 2);
  const auto report = import_dataset(request("coco"));
  EXPECT_EQ(objects(report) + named(report, kObjectUnusable), 4);
  EXPECT_EQ(objects(report), 2);
  EXPECT_EQ(landmarks(report), 3);
  EXPECT_EQ(named(report, kTruthUnusable), 2);  // a landmark and a part
  refuses_strictly("coco", "there is no");
}

TEST_F(Accounting, OfCub200NamesLandmarksOutsideAndOfNoImage) {
  write("classes.txt", "1 001.Fox\n");
  write("images.txt", "1 a.jpg\n2 b.jpg\n");
  write("image_class_labels.txt", "1 1\n2 1\n");
  write("train_test_split.txt", "1 1\n2 0\n");
  write("bounding_boxes.txt", "1 0 0 8 8\n2 0 0 8 8\n");
  write("parts/parts.txt", "1 back\n2 beak\n");
  write("parts/part_locs.txt", "1 1 3 3 1\n1 2 -40 3 1\n2 1 3 3 1\n2 2 3 3 0\n7 1 3 3 1\n");
  photograph("images/a.jpg", 8, 8, 1);
  photograph("images/b.jpg", 8, 8, 2);
  const auto report = import_dataset(request("cub200"));
  EXPECT_EQ(landmarks(report) + named(report, kTruthUnusable), 4);  // one is not visible
  EXPECT_EQ(landmarks(report), 2);
  refuses_strictly("cub200", "image 7");
}

TEST_F(Accounting, OfAnimalPartKeepsNoSingleHeadOfTwoWhereOneLiesOutside) {
  const auto number = [](double value) { return matlab_numbers(1, 1, {value}); };
  const auto box = matlab_structs({MatlabFields{
      {"xmin", number(1)}, {"ymin", number(1)}, {"xmax", number(50)}, {"ymax", number(50)}}});
  const auto sample = MatlabFields{{"obj", matlab_structs({MatlabFields{{"bndbox", box}}})}};
  write_matlab(source_ / "n02118333_obj/img/data.mat", {{"samples", matlab_structs({sample})}},
               MatlabVersion::v5);
  const MatlabFields two_heads{{"pHW_center", matlab_numbers(2, 2, {10.0, 20.0, 30.0, 4000.0})},
                               {"pHW_scale", matlab_numbers(2, 2, {8.0, 8.0, 8.0, 8.0})},
                               {"obj", matlab_numbers(0, 0, {})}};
  write_matlab(source_ / "truth/n02118333/truth_part01.mat",
               {{"truth", matlab_structs({two_heads})}}, MatlabVersion::v5);
  photograph("n02118333_obj/img/img/00001.jpg", 60, 60, 1);
  const auto report = import_dataset(request("animal-part"));
  EXPECT_EQ(objects(report), 1);
  EXPECT_EQ(landmarks(report), 0);
  EXPECT_EQ(named(report, kTruthUnusable), 1);
  refuses_strictly("animal-part", "head");
}

TEST_F(Accounting, OfVocPartNamesEmptyMasksObjectsOfNoImageAndImagesNobodyNames) {
  const auto mask = [](uint8_t value) {
    return matlab_mask(8, 8, std::vector<uint8_t>(64, value));
  };
  const auto part = [&](const char* name, uint8_t value) {
    return MatlabFields{{"part_name", matlab_text(name)}, {"mask", mask(value)}};
  };
  const auto object = [&](const char* name, uint8_t value) {
    return MatlabFields{{"class", matlab_text(name)},
                        {"mask", mask(value)},
                        {"parts", matlab_structs({part("head", 1), part("torso", 0)})}};
  };
  write_matlab(source_ / "Annotations_Part/2008_000001.mat",
               {{"anno", matlab_structs({MatlabFields{
                             {"objects", matlab_structs({object("cat", 1), object("dog", 0)})}}})}},
               MatlabVersion::v5);
  write("Annotations_Part/2008_000002.mat", "cut off");
  const MatlabFields nowhere{{"pHW_center", matlab_numbers(0, 0, {})},
                             {"pHW_scale", matlab_numbers(0, 0, {})},
                             {"obj", matlab_numbers(0, 0, {})}};
  write_matlab(source_ / "truth/bird/truth_part01.mat", {{"truth", matlab_structs({nowhere})}},
               MatlabVersion::v5);
  for (const auto* name : {"2008_000001", "2008_000002", "2008_000003"})
    photograph(fmt::format("JPEGImages/{}.jpg", name), 8, 8, 1);
  const auto report = import_dataset(request("voc-part"));
  EXPECT_EQ(objects(report), 1);
  EXPECT_EQ(named(report, kObjectUnusable), 2);      // the dog, and the bird of no image
  EXPECT_EQ(landmarks(report), 1);                   // the cat's head
  EXPECT_EQ(named(report, kTruthUnusable), 1);       // its torso; the dog's went with the dog
  EXPECT_EQ(report.dataset.images.size(), 1U);       // of three
  EXPECT_EQ(named(report, kAnnotationUnusable), 1);  // 2008_000002
  EXPECT_EQ(named(report, kNothingChosen), 1);       // 2008_000003
  refuses_strictly("voc-part", kObjectUnusable);
}

TEST_F(Accounting, NamesImagesBesideThoseThatAreDescribed) {
  write("classes.txt", "1 001.Fox\n2 002.Cat\n");
  write("images.txt", "1 a.jpg\n2 b.jpg\n");
  write("image_class_labels.txt", "1 1\n2 2\n");
  write("train_test_split.txt", "1 1\n2 0\n");
  write("bounding_boxes.txt", "1 0 0 8 8\n2 0 0 8 8\n");
  write("parts/parts.txt", "1 back\n");
  write("parts/part_locs.txt", "1 1 0 0 0\n2 1 0 0 0\n");
  for (const auto* name : {"a.jpg", "b.jpg", "more/c.jpg"})
    photograph(fmt::format("images/{}", name), 8, 8, 1);
  auto only_foxes = request("cub200");
  only_foxes.categories = {"Fox"};
  const auto report = import_dataset(only_foxes);  // b.jpg was not asked for
  EXPECT_EQ(report.dataset.images.size(), 1U);
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].kind, kFileElsewhere);
  EXPECT_NE(report.skipped[0].name.find("c.jpg"), std::string::npos);
  refuses_strictly("cub200", "c.jpg");
}

TEST_F(Accounting, OfCocoNamesAnImageThatShowsOnlyACrowd) {
  using nlohmann::json;
  const json crowd{
      {"id", 1}, {"image_id", 1}, {"category_id", 1}, {"bbox", {0, 0, 8, 8}}, {"iscrowd", 1}};
  const json file{
      {"images", {{{"id", 1}, {"file_name", "a.jpg"}}, {{"id", 2}, {"file_name", "b.jpg"}}}},
      {"categories", {{{"id", 1}, {"name", "fox"}}}},
      {"annotations", {crowd}}};
  write("annotations.json", file.dump());
  photograph("a.jpg", 8, 8, 1);
  photograph("b.jpg", 8, 8, 2);
  const auto report = import_dataset(request("coco"));
  EXPECT_EQ(report.dataset.images.size() + static_cast<std::size_t>(named(report, kNothingChosen)),
            2U);
  EXPECT_EQ(named(report, kObjectUnusable), 1);
}

TEST_F(Accounting, OfCub200NamesLinesThatAreMissingRepeatedOrOfNoImage) {
  write("classes.txt", "1 001.Fox\n");
  write("images.txt", "1 a.jpg\n2 b.jpg\n");
  write("image_class_labels.txt", "1 1\n2 1\n7 1\n");
  write("train_test_split.txt", "1 1\n2 0\n7 0\n");
  write("bounding_boxes.txt", "1 0 0 8 8\n2 0 0 8 8\n7 0 0 8 8\n");
  write("parts/parts.txt", "1 back\n2 beak\n3 tail\n");
  write("parts/part_locs.txt", "1 1 3 3 1\n1 2 4 4 1\n1 1 5 5 1\n7 1 0 0 0\n");  // cut off
  photograph("images/a.jpg", 8, 8, 1);
  photograph("images/b.jpg", 8, 8, 2);
  const auto report = import_dataset(request("cub200"));
  EXPECT_EQ(landmarks(report), 2);
  EXPECT_EQ(report.dataset.annotations.at(0).landmarks.at("back").size(), 1U);
  // The second back, the tail, three of the second image, and the line of no image.
  EXPECT_EQ(named(report, kTruthUnusable), 1 + 1 + 3 + 1);
  EXPECT_EQ(named(report, kAnnotationUnusable), 3);
  refuses_strictly("cub200", "part_locs.txt: image 1");
}

TEST_F(Accounting, OfCocoNamesAnImageWhosePartBelongsToNoObject) {
  using nlohmann::json;
  const json part{
      {"id", 1}, {"image_id", 1}, {"category_id", 1}, {"obj_ann_id", 99}, {"bbox", {0, 0, 8, 8}}};
  const json file{
      {"images", {{{"id", 1}, {"file_name", "a.jpg"}}, {{"id", 2}, {"file_name", "b.jpg"}}}},
      {"categories", {{{"id", 1}, {"name", "fox"}}}},
      {"annotations", {part}}};
  write("annotations.json", file.dump());
  photograph("a.jpg", 8, 8, 1);
  photograph("b.jpg", 8, 8, 2);
  const auto report = import_dataset(request("coco"));
  ASSERT_EQ(report.dataset.images.size(), 1U);  // b.jpg is a negative, a.jpg is not
  EXPECT_EQ(report.dataset.images[0].file_name, "images/b.jpg");
  EXPECT_EQ(named(report, kNothingChosen), 1);
  EXPECT_EQ(named(report, kTruthUnusable), 1);
}

TEST_F(Accounting, OfFoldersNamesEveryFileThatDoesNotComeOver) {
  namespace fs = std::filesystem;
  photograph("fox/a.jpg", 8, 8, 1);
  photograph("cat/b.jpg", 8, 8, 2);
  photograph("stray.jpg", 8, 8, 3);
  write("fox/c.gif", "GIF89a and so on");
  fs::create_directories(source_ / "wolf");
  fs::create_symlink("nowhere", source_ / "fox/d.jpg");
  fs::create_symlink("loop", source_ / "loop");
  fs::create_symlink(".hidden", source_ / "fox/.hidden");  // a loop as well
  fs::create_directory_symlink(source_ / "cat", source_ / "fox/linked");
  const auto report = import_dataset(request("folder"));
  EXPECT_EQ(report.dataset.images.size(), 2U);
  EXPECT_EQ(named(report, kFileElsewhere), 5);
  EXPECT_EQ(named(report, kImageUnreadable), 1);
  for (const auto* words : {"stray.jpg", "GIF", "wolf", "d.jpg", "linked", "loop"}) {
    const auto found =
        std::any_of(report.skipped.begin(), report.skipped.end(), [&](const auto& item) {
          return (item.name + item.reason).find(words) != std::string::npos;
        });
    EXPECT_TRUE(found) << words;
  }
  refuses_strictly("folder", kFileElsewhere);
}

TEST_F(Accounting, OfASplitFolderNamesWhatLiesBesideIt) {
  photograph("train/fox/a.jpg", 8, 8, 1);
  photograph("stray.jpg", 8, 8, 2);
  EXPECT_EQ(named(import_dataset(request("folder")), kFileElsewhere), 1);
}

}  // namespace
}  // namespace partwise::datasets
