#include "partwise/datasets/import/import_fixture.h"

namespace partwise::datasets {
namespace {

class Cub200Import : public ImportTest {
 protected:
  void SetUp() override {
    ImportTest::SetUp();
    write("classes.txt", "1 001.Black_footed_Albatross\n2 002.Laysan_Albatross\n");
    write("images.txt",
          "3 001.Black_footed_Albatross/a.jpg\r\n8 002.Laysan_Albatross/b.jpg\n"
          "9 002.Laysan_Albatross/absent.jpg\n");
    write("image_class_labels.txt", "3 1\n8 2\n9 2\n");
    write("train_test_split.txt", "3 0\n8 1\n9 1\n");
    write("bounding_boxes.txt", "3 2.0 3.0 10.0 5.0\n8 0.0 0.0 40.0 20.0\n9 1 1 5 5\n");
    write("parts/parts.txt", "1 back\n2 left eye\n");
    write("parts/part_locs.txt",
          "3 1 4.5 5.0 1\n3 2 0.0 0.0 0\n8 1 7.0 6.0 1\n8 2 8.0 6.0 1\r\n9 1 0 0 0\n9 2 0 0 0\n");
    photograph("images/001.Black_footed_Albatross/a.jpg", 20, 10, 1);
    photograph("images/002.Laysan_Albatross/b.jpg", 30, 20, 2);
  }
};

TEST_F(Cub200Import, BoxesAndVisibleLandmarksComeWithTheirOriginalIds) {
  auto paper = request("cub200");
  paper.options.protocol = Protocol::paper;
  const auto report = import_dataset(paper);
  const auto& dataset = report.dataset;
  ASSERT_EQ(dataset.images.size(), 2U);
  EXPECT_EQ(dataset.images[0].id, 3);
  EXPECT_EQ(dataset.categories[0].name, "Black_footed_Albatross");
  EXPECT_EQ(dataset.categories[0].landmarks, (std::vector<std::string>{"back", "left eye"}));
  const auto& albatross = dataset.annotations[0];
  EXPECT_EQ(albatross.bbox.x, 2.0);
  EXPECT_EQ(albatross.bbox.height, 5.0);
  ASSERT_EQ(albatross.landmarks.size(), 1U);
  EXPECT_EQ(albatross.landmarks.at("back").at(0).x, 4.5);
  EXPECT_EQ(dataset.annotations[1].bbox.width, 30.0);  // cut off at the image
  EXPECT_EQ(dataset.splits.at("train"), std::vector<int64_t>{8});
  EXPECT_EQ(dataset.splits.at("test"), std::vector<int64_t>{3});
  EXPECT_EQ(count_by_kind(report.skipped).at(kImageAbsent), 1);
}

TEST_F(Cub200Import, ACategoryHasTwoNames) {
  auto some = request("cub200");
  some.categories = {"002.Laysan_Albatross"};
  EXPECT_EQ(import_dataset(some).dataset.categories.at(0).name, "Laysan_Albatross");
  some.categories = {"Laysan_Albatross"};
  some.out = root_ / "again";
  EXPECT_EQ(import_dataset(some).dataset.images.size(), 1U);
}

TEST_F(Cub200Import, AddedNegativesGetIdsOfTheirOwn) {
  for (uint8_t i = 0; i < 4; ++i) photograph("../neg/" + std::to_string(i) + ".jpg", 9, 9, 50 + i);
  auto birds = request("cub200");
  birds.merged_name = "bird";
  birds.negatives = root_ / "neg";
  const auto dataset = import_dataset(birds).dataset;  // reading it back refuses an id used twice
  EXPECT_EQ(dataset.images.size(), 6U);
  EXPECT_EQ(dataset.images.back().id, 13);
}

TEST_F(Cub200Import, BrokenTablesAreNamed) {
  write("bounding_boxes.txt", "3 2.0 3.0 ten 5.0\n");
  EXPECT_NE(
      reason_of([&] { import_dataset(request("cub200")); }).find("bounding_boxes.txt: line 1"),
      std::string::npos);
  write("bounding_boxes.txt", "3 2.0 3.0 10.0 5.0\n");
  EXPECT_NE(reason_of([&] { import_dataset(request("cub200")); }).find("image 8"),
            std::string::npos);
  std::filesystem::remove(source_ / "images.txt");
  EXPECT_NE(reason_of([&] { import_dataset(request("cub200")); }).find("images.txt"),
            std::string::npos);
}

TEST_F(Cub200Import, WrongValuesAndFurtherColumnsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"image_class_labels.txt", "3 1.7\n8 2\n9 2\n"},
      {"image_class_labels.txt", "3 1 1\n8 2\n9 2\n"},
      {"train_test_split.txt", "3 2\n8 1\n9 1\n"},
      {"train_test_split.txt", "3 0.5\n8 1\n9 1\n"},
      {"bounding_boxes.txt", "3 2 3 10 5 7\n8 0 0 40 20\n9 1 1 5 5\n"},
      {"parts/part_locs.txt", "3 1 4.5 5.0 2\n"},
      {"parts/part_locs.txt", "3 7 4.5 5.0 0\n"},
      {"parts/part_locs.txt", "3 1 4.5 5.0 1 1\n"}};
  for (const auto& [name, text] : wrong) {
    const auto unchanged = read_file(source_ / name);
    write(name, text);
    const auto reason = reason_of([&] { import_dataset(request("cub200")); });
    EXPECT_NE(reason.find(name + ": line 1: '" + text.substr(0, text.find('\n')) + "'"),
              std::string::npos)
        << reason;
    write(name, unchanged);
  }
  EXPECT_EQ(import_dataset(request("cub200")).skipped.size(), 1U);  // the absent photograph
}

TEST_F(Cub200Import, ATableOfLandmarksThatIsCutOffIsNoted) {
  write("parts/part_locs.txt", "");
  const auto report = import_dataset(request("cub200"));
  EXPECT_EQ(count_by_kind(report.skipped).at(kTruthUnusable), 3 * 2);
  EXPECT_NE(report.skipped.front().reason.find("no line for back"), std::string::npos);
}

TEST_F(Cub200Import, AChangedTableIsAnotherOriginal) {
  import_dataset(request("cub200"));
  const std::map<std::string, std::string> changed{
      {"image_class_labels.txt", "3 2\n8 1\n9 2\n"},
      {"train_test_split.txt", "3 1\n8 0\n9 1\n"},
      {"bounding_boxes.txt", "3 2.0 3.0 10.0 6.0\n8 0.0 0.0 40.0 20.0\n9 1 1 5 5\n"},
      {"parts/parts.txt", "1 back\n2 right eye\n"},
      {"parts/part_locs.txt", "3 1 4.5 6.0 1\n8 1 7.0 6.0 1\n8 2 8.0 6.0 1\n"}};
  for (const auto& [name, text] : changed) {
    const auto unchanged = read_file(source_ / name);
    write(name, text);
    EXPECT_NE(reason_of([&] { import_dataset(request("cub200")); }).find("(annotations)"),
              std::string::npos)
        << name;
    write(name, unchanged);
  }
  EXPECT_EQ(import_dataset(request("cub200")).dataset.images.size(), 2U);
}

TEST_F(Cub200Import, AnImageOutsideTheFolderIsLeftOut) {
  write("images.txt", "3 001.Black_footed_Albatross/a.jpg\n8 ../../b.jpg\n");
  photograph("../b.jpg", 30, 20, 2);
  const auto report = import_dataset(request("cub200"));
  EXPECT_EQ(report.dataset.images.size(), 1U);
  const auto counts = count_by_kind(report.skipped);
  EXPECT_EQ(counts.at(kImageUnreadable), 1);
  EXPECT_EQ(counts.at(kFileElsewhere), 1);  // the image that is listed no more
}

}  // namespace
}  // namespace partwise::datasets
