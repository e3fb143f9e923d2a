#include "partwise/datasets/import/import.h"

#include "partwise/base/error.h"
#include "partwise/base/removal.h"
#include "partwise/datasets/check.h"
#include "partwise/datasets/import/import_fixture.h"

#include <algorithm>
#include <thread>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

class Import : public ImportTest {
 protected:
  void SetUp() override {
    ImportTest::SetUp();
    for (uint8_t i = 0; i < 5; ++i) {
      photograph("fox/f" + std::to_string(i) + ".jpg", 20, 10, i);
      photograph("cat/c" + std::to_string(i) + ".jpg", 12, 16, static_cast<uint8_t>(100 + i));
    }
  }
};

TEST_F(Import, CopiesTheOriginalsBytes) {
  const auto report = import_dataset(request("folder"));
  EXPECT_EQ(report.dataset.images.size(), 10U);
  EXPECT_TRUE(report.skipped.empty());
  for (const auto& image : report.dataset.images) {
    EXPECT_EQ(read_file(report.dataset.root / image.file_name),
              read_file(source_ / fs::path(image.file_name).lexically_relative("images")));
  }
  EXPECT_TRUE(check_dataset(report.dataset).sound());
  EXPECT_EQ(report.dataset.splits.at("test").size(), 2U);
}

TEST_F(Import, WhatCannotBeUsedIsNamedAndLeftOut) {
  write("fox/empty.jpg", "");
  write("fox/notes.txt", "not a picture");
  write("fox/cut.jpg", read_file(source_ / "fox/f0.jpg").substr(0, 200));
  auto giant = images::encode_png(images::Image::blank(1, 1));
  giant.replace(16, 8, std::string("\x7F\xFF\xFF\xFF\x7F\xFF\xFF\xFF", 8));  // IHDR's size
  write("cat/giant.png", giant);
  write("cat/bad\xFFname.jpg", read_file(source_ / "fox/f0.jpg"));
  const auto report = import_dataset(request("folder"));
  EXPECT_EQ(report.dataset.images.size(), 10U);
  EXPECT_EQ(count_by_kind(report.skipped).at(kImageUnreadable), 5);
  const auto reason = [&](const std::string& name) {
    const auto found = std::find_if(report.skipped.begin(), report.skipped.end(),
                                    [&](const auto& item) { return item.name.ends_with(name); });
    return found == report.skipped.end() ? "not skipped" : found->reason;
  };
  EXPECT_NE(reason("empty.jpg").find("zero bytes"), std::string::npos);
  EXPECT_NE(reason("notes.txt").find("not an image"), std::string::npos);
  EXPECT_NE(reason("cut.jpg").find("truncated"), std::string::npos);
  EXPECT_NE(reason("name.jpg").find("UTF-8"), std::string::npos);
  const auto info = read_json(report.dataset.root / "dataset.json")["info"];
  EXPECT_EQ(info["skipped"][kImageUnreadable], 5);
}

TEST_F(Import, StrictRefusesTheFirstProblem) {
  write("fox/empty.jpg", "");
  auto strict = request("folder");
  strict.strict = true;
  EXPECT_NE(reason_of([&] { import_dataset(strict); }).find("empty.jpg"), std::string::npos);
  EXPECT_FALSE(fs::exists(strict.out / "dataset.json"));
  fs::remove(source_ / "fox/empty.jpg");  // mended: the refused one is in nobody's way
  EXPECT_EQ(import_dataset(strict).dataset.images.size(), 10U);
}

TEST_F(Import, AFinishedOneIsLeftAloneAndAnInterruptedOneCompleted) {
  const auto out = import_dataset(request("folder")).dataset.root;
  const auto whole = read_file(out / "dataset.json");
  const auto stamp = fs::last_write_time(out / "dataset.json");
  import_dataset(request("folder"));
  EXPECT_EQ(fs::last_write_time(out / "dataset.json"), stamp);
  write_json_atomically(out / "unfinished.json", read_json(out / "dataset.json")["info"]);
  fs::remove(out / "dataset.json");
  fs::remove(out / "images" / "fox" / "f1.jpg");
  import_dataset(request("folder"));
  EXPECT_EQ(read_file(out / "dataset.json"), whole);
  EXPECT_TRUE(fs::exists(out / "images" / "fox" / "f1.jpg"));
  EXPECT_FALSE(fs::exists(out / "unfinished.json"));
}

TEST_F(Import, OtherFoldersAndOtherOptionsAreRefused) {
  import_dataset(request("folder"));
  auto other = request("folder");
  other.options.seed = 2;
  EXPECT_THROW(import_dataset(other), Error);
  other.out = source_;
  EXPECT_THROW(import_dataset(other), Error);
  photograph("fox/new.jpg", 5, 5, 77);  // the original has changed
  EXPECT_THROW(import_dataset(request("folder")), Error);
}

TEST_F(Import, IntoItsOwnOriginalIsRefused) {
  auto inside = request("folder");
  inside.out = source_ / "out";
  EXPECT_NE(reason_of([&] { import_dataset(inside); }).find("lies inside the original"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(inside.out));
  fs::create_directory_symlink(source_, root_ / "link");
  inside.out = root_ / "link/deep/out";
  EXPECT_NE(reason_of([&] { import_dataset(inside); }).find("lies inside"), std::string::npos);
  photograph("../elsewhere/n.jpg", 9, 9, 200);
  inside.negatives = root_ / "elsewhere";
  inside.out = root_ / "elsewhere/out";
  EXPECT_NE(reason_of([&] { import_dataset(inside); }).find("lies inside"), std::string::npos);
  inside.out = root_ / "original-out";
  EXPECT_EQ(import_dataset(inside).dataset.images.size(), 11U);
}

TEST_F(Import, WhatWasNotedIsSaidAgain) {
  fs::copy_file(source_ / "fox/f0.jpg", source_ / "cat/f0.jpg");
  auto twice = request("folder");
  twice.options.test_share = 0.0;
  const auto first = import_dataset(twice);
  EXPECT_EQ(note_with(first, "two classes"),
            "the same picture in two classes: images/cat/f0.jpg (cat) and images/fox/f0.jpg (fox)");
  EXPECT_NE(note_with(first, "no test images"), "");
  EXPECT_EQ(import_dataset(twice).notes, first.notes);
}

TEST_F(Import, TwoIntoOneFolderEndWithOneDataset) {
  import_dataset(request("folder"));
  const auto whole = read_file(request("folder").out / "dataset.json");
  auto together = request("folder");
  together.out = root_ / "together";
  std::vector<std::string> reasons(4);
  std::vector<std::thread> imports;
  imports.reserve(reasons.size());
  for (auto& reason : reasons)
    imports.emplace_back([&] { reason = reason_of([&] { import_dataset(together); }); });
  for (auto& thread : imports) thread.join();
  EXPECT_EQ(reasons, std::vector<std::string>(4, "nothing was wrong"));
  EXPECT_EQ(read_file(together.out / "dataset.json"), whole);
}

TEST_F(Import, OfAnOlderProgramIsRefused) {
  const auto file = import_dataset(request("folder")).dataset.root / "dataset.json";
  auto older = read_json(file);
  older["info"].erase("annotations");
  older["info"]["importer_version"] = 3;
  write_json_atomically(file, older);
  EXPECT_NE(
      reason_of([&] { import_dataset(request("folder")); }).find("(annotations, importer_version)"),
      std::string::npos);
}

TEST_F(Import, ADamagedListOfWhatWasLeftOutIsNamed) {
  const auto out = import_dataset(request("folder")).dataset.root;
  for (const auto* damaged : {"{}", "[7]", R"([{"kind": 7, "name": "a", "reason": "b"}])"}) {
    write_file_atomically(out / "skipped.json", damaged);
    EXPECT_THROW(import_dataset(request("folder")), Error) << damaged;
  }
}

TEST_F(Import, UnknownNamesListTheValidOnes) {
  EXPECT_NE(reason_of([&] { import_dataset(request("cocoo")); }).find("animal-part"),
            std::string::npos);
  auto wrong = request("folder");
  wrong.categories = {"fxo"};
  EXPECT_NE(reason_of([&] { import_dataset(wrong); }).find("cat, fox"), std::string::npos);
  wrong.source = source_ / "nowhere";
  EXPECT_NE(reason_of([&] { import_dataset(wrong); }).find("nowhere"), std::string::npos);
}

TEST_F(Import, CategoriesMayBeMergedAndNegativesComeFromElsewhere) {
  photograph("../elsewhere/n.jpg", 9, 9, 200);
  auto animals = request("folder");
  animals.merged_name = "animal";
  animals.negatives = root_ / "elsewhere";
  const auto dataset = import_dataset(animals).dataset;
  ASSERT_EQ(dataset.categories.size(), 1U);
  EXPECT_EQ(dataset.categories[0].name, "animal");
  EXPECT_EQ(dataset.annotations.size(), 10U);
  EXPECT_EQ(dataset.images.back().file_name, "images/negatives/n.jpg");
  EXPECT_EQ(dataset.splits.at("test").size(), 2U);  // one of each original category
}

TEST_F(Import, NothingUsableIsAnError) {
  auto empty = request("folder");
  remove_folder(source_);
  write("fox/notes.txt", "not a picture");
  EXPECT_NE(reason_of([&] { import_dataset(empty); }).find("no image that can be used"),
            std::string::npos);
  photograph("fox/f.jpg", 20, 10, 1);
  EXPECT_EQ(import_dataset(empty).dataset.images.size(), 1U);
}

TEST_F(Import, DuplicatesStayOnOneSideOfACleanSplit) {
  for (int i = 0; i < 5; ++i) {
    const auto name = std::to_string(i) + ".jpg";
    fs::copy_file(source_ / ("fox/f" + name), source_ / ("fox/copy" + name));
  }
  for (int64_t seed = 0; seed < 4; ++seed) {
    auto again = request("folder");
    again.options.seed = seed;
    again.out = root_ / std::to_string(seed);
    const auto summary = check_dataset(import_dataset(again).dataset);
    EXPECT_TRUE(summary.leaks.empty());
    EXPECT_EQ(summary.splits.at("test"), 3);
  }
}

}  // namespace
}  // namespace partwise::datasets
