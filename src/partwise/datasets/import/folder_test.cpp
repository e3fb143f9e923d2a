#include "partwise/datasets/check.h"
#include "partwise/datasets/import/import_fixture.h"

namespace partwise::datasets {
namespace {

using FolderImport = ImportTest;

TEST_F(FolderImport, SubfoldersAreClassesAndNegativesAreNegatives) {
  photograph("fox/deep/a.jpg", 20, 10, 1);
  photograph("cat/b.jpg", 20, 10, 2);
  photograph("negatives/c.jpg", 20, 10, 3);
  photograph(".hidden/d.jpg", 20, 10, 4);
  const auto dataset = import_dataset(request("folder")).dataset;
  ASSERT_EQ(dataset.categories.size(), 2U);
  EXPECT_EQ(dataset.categories[0].name, "cat");
  ASSERT_EQ(dataset.images.size(), 3U);
  ASSERT_EQ(dataset.annotations.size(), 2U);
  EXPECT_EQ(dataset.annotations[1].bbox.width, 20.0);  // the whole image
  EXPECT_EQ(dataset.images[1].file_name, "images/fox/deep/a.jpg");
}

TEST_F(FolderImport, TrainAndTestFoldersAreTheOriginalsSplit) {
  photograph("train/fox/a.jpg", 9, 9, 1);
  photograph("train/fox/b.jpg", 9, 9, 2);
  photograph("test/fox/a.jpg", 9, 9, 3);
  auto paper = request("folder");
  paper.options.protocol = Protocol::paper;
  const auto dataset = import_dataset(paper).dataset;
  EXPECT_EQ(dataset.categories.size(), 1U);
  EXPECT_EQ(dataset.splits.at("train").size(), 2U);
  EXPECT_EQ(dataset.splits.at("test").size(), 1U);
}

TEST_F(FolderImport, APersonsOwnSplitIsKeptUnlessAnotherIsAskedFor) {
  for (uint8_t i = 1; i <= 10; ++i) {
    photograph(fmt::format("train/fox/{}.jpg", i), 9, 9, i);
    photograph(fmt::format("val/fox/{}.jpg", i), 9, 9, static_cast<uint8_t>(50 + i));
    photograph(fmt::format("negatives/{}.jpg", i), 9, 9, static_cast<uint8_t>(100 + i));
  }
  const auto kept = import_dataset(request("folder")).dataset;
  ASSERT_EQ(kept.categories.size(), 1U);
  ASSERT_EQ(kept.splits.size(), 2U);
  EXPECT_EQ(kept.splits.at("val").size(), 12U);  // with 2 of the negatives
  EXPECT_EQ(kept.splits.at("train").size(), 18U);
  for (const auto& image : kept.images) {
    if (image.file_name.starts_with("images/negatives/")) continue;
    const auto& val = kept.splits.at("val");
    EXPECT_EQ(image.file_name.starts_with("images/val/"),
              std::find(val.begin(), val.end(), image.id) != val.end());
  }
  auto mixed = request("folder");
  mixed.out = root_ / "mixed";
  mixed.options.protocol = Protocol::clean;
  EXPECT_FALSE(import_dataset(mixed).dataset.splits.contains("val"));
}

TEST_F(FolderImport, ThePictureThatLiesInTwoClassesIsNamed) {
  photograph("fox/a.jpg", 9, 9, 1);
  photograph("fox/again.jpg", 9, 9, 1);
  photograph("cat/b.jpg", 9, 9, 1);
  photograph("cat/c.jpg", 9, 9, 2);
  photograph("negatives/d.jpg", 9, 9, 2);
  const auto report = import_dataset(request("folder"));
  ASSERT_EQ(report.same_pictures.size(), 3U);
  EXPECT_EQ(in_words(report.same_pictures[0]), "images/cat/b.jpg (cat) and images/fox/a.jpg (fox)");
  EXPECT_EQ(report.same_pictures[1].second_file, "images/fox/again.jpg");
  EXPECT_EQ(report.same_pictures[2].second_class, "no object");
  EXPECT_FALSE(check_dataset(report.dataset).sound());
}

TEST_F(FolderImport, ALoneTrainFolderIsASplitOnlyWhereItHoldsClasses) {
  photograph("train/fox/a.jpg", 9, 9, 1);
  EXPECT_EQ(import_dataset(request("folder")).dataset.categories.at(0).name, "fox");
}

TEST_F(FolderImport, TrainsAreAClassToo) {
  photograph("train/a.jpg", 9, 9, 1);
  photograph("bus/a.jpg", 9, 9, 2);
  EXPECT_EQ(import_dataset(request("folder")).dataset.categories.size(), 2U);
}

TEST_F(FolderImport, AClassOfASplitMayBeCalledAsOne) {
  uint8_t grey = 0;
  for (const std::string side : {"train", "test"}) {
    for (const std::string name : {"bus", "train", "truck"})
      photograph(side + "/" + name + "/a.jpg", 9, 9, ++grey);
  }
  photograph("negatives/a.jpg", 9, 9, ++grey);
  const auto report = import_dataset(request("folder"));
  const auto& dataset = report.dataset;
  EXPECT_TRUE(report.skipped.empty());
  ASSERT_EQ(dataset.images.size(), 7U);
  ASSERT_EQ(dataset.annotations.size(), 6U);
  for (std::size_t i = 0; i < dataset.annotations.size(); ++i) {
    const auto& object = dataset.annotations[i];
    const auto& name = dataset.categories[static_cast<std::size_t>(object.category_id - 1)].name;
    EXPECT_EQ(dataset.images[i].id, object.image_id);
    EXPECT_TRUE(dataset.images[i].file_name.ends_with("/" + name + "/a.jpg"))
        << dataset.images[i].file_name << " as " << name;
  }
}

TEST_F(FolderImport, WhatLiesBesideTrainMustBeASplit) {
  photograph("train/fox/a.jpg", 9, 9, 1);
  photograph("wolves/a.jpg", 9, 9, 2);
  EXPECT_NE(reason_of([&] { import_dataset(request("folder")); }).find("wolves"),
            std::string::npos);
}

TEST_F(FolderImport, ChosenCategoriesComeAlone) {
  photograph("fox/a.jpg", 9, 9, 1);
  photograph("cat/b.jpg", 9, 9, 2);
  auto some = request("folder");
  some.categories = {"fox"};
  const auto dataset = import_dataset(some).dataset;
  EXPECT_EQ(dataset.images.size(), 1U);
  EXPECT_EQ(dataset.categories.at(0).name, "fox");
}

TEST_F(FolderImport, SplitsAreKnownInAnySpelling) {
  for (const std::string name : {"a", "b"}) {
    const auto grey = static_cast<uint8_t>(name[0]);
    photograph("Training/" + name + "/1.jpg", 9, 9, grey);
    photograph("VALID/" + name + "/1.jpg", 9, 9, static_cast<uint8_t>(grey + 10));
    photograph("Test/" + name + "/1.jpg", 9, 9, static_cast<uint8_t>(grey + 20));
    photograph("testing/" + name + "/1.jpg", 9, 9, static_cast<uint8_t>(grey + 30));
  }
  const auto report = import_dataset(request("folder"));
  const auto& dataset = report.dataset;
  ASSERT_EQ(dataset.categories.size(), 2U);
  EXPECT_EQ(dataset.categories[0].name, "a");
  EXPECT_EQ(dataset.splits.size(), 3U);
  EXPECT_EQ(dataset.splits.at("train").size(), 2U);
  EXPECT_EQ(dataset.splits.at("validation").size(), 2U);
  EXPECT_EQ(dataset.splits.at("test").size(), 4U);
  EXPECT_TRUE(report.notes.empty());
}

TEST_F(FolderImport, SplitsWithoutTrainingClassesAreRefused) {
  const auto refused = [&] { return reason_of([&] { import_dataset(request("folder")); }); };
  photograph("val/a/1.jpg", 9, 9, 1);
  photograph("test/a/1.jpg", 9, 9, 2);
  photograph("negatives/1.jpg", 9, 9, 3);
  EXPECT_NE(refused().find("has test/, val/ but no train/"), std::string::npos);
  photograph("train/1.jpg", 9, 9, 4);
  EXPECT_NE(refused().find("has test/, train/, val/ but no train/ with classes"),
            std::string::npos);
  photograph("train/a/1.jpg", 9, 9, 5);
  EXPECT_EQ(import_dataset(request("folder")).dataset.splits.at("test").size(), 1U);
}

TEST_F(FolderImport, ASingleClassIsDoubtedAndTheFolderBelowItNamed) {
  photograph("data/images/a/1.jpg", 9, 9, 1);
  photograph("data/images/b/1.jpg", 9, 9, 2);
  std::filesystem::create_directory_symlink("data", source_ / ".other");
  const auto note = note_with(import_dataset(request("folder")), "only one class, 'data'");
  EXPECT_NE(note.find((source_ / "data/images").string() + " holds 2 folders"), std::string::npos);
}

TEST_F(FolderImport, ASingleClassWithNegativesIsNotDoubted) {
  photograph("fox/1.jpg", 9, 9, 1);
  auto alone = request("folder");
  alone.out = root_ / "alone";
  EXPECT_NE(note_with(import_dataset(alone), "only one class, 'fox'"), "");
  photograph("negatives/1.jpg", 9, 9, 2);
  EXPECT_EQ(note_with(import_dataset(request("folder")), "only one class"), "");
}

TEST_F(FolderImport, NegativesAreKnownInAnySpelling) {
  photograph("fox/a.jpg", 9, 9, 1);
  photograph("Negatives/b.jpg", 9, 9, 2);
  const auto dataset = import_dataset(request("folder")).dataset;
  ASSERT_EQ(dataset.categories.size(), 1U);
  EXPECT_EQ(dataset.annotations.size(), 1U);
  EXPECT_EQ(dataset.images.at(1).file_name, "images/Negatives/b.jpg");
}

TEST_F(FolderImport, AClassWithoutTrainingImagesIsNoted) {
  uint8_t grey = 0;
  for (const auto* place : {"train/a", "train/b", "test/a", "test/b", "test/c"})
    photograph(std::string(place) + "/1.jpg", 9, 9, ++grey);
  EXPECT_EQ(note_with(import_dataset(request("folder")), "training"), "c has no training images");
}

}  // namespace
}  // namespace partwise::datasets
