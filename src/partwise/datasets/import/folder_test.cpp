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

TEST_F(FolderImport, ChosenCategoriesComeAlone) {
  photograph("fox/a.jpg", 9, 9, 1);
  photograph("cat/b.jpg", 9, 9, 2);
  auto some = request("folder");
  some.categories = {"fox"};
  const auto dataset = import_dataset(some).dataset;
  EXPECT_EQ(dataset.images.size(), 1U);
  EXPECT_EQ(dataset.categories.at(0).name, "fox");
}

}  // namespace
}  // namespace partwise::datasets
