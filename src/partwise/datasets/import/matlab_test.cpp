#include "partwise/datasets/import/matlab.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/datasets/import/matlab_fixture.h"

#include <gtest/gtest.h>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;

class MatlabFile : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!matlab_supported()) GTEST_SKIP() << "built without libmatio";
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-matlab-test";
};

TEST_P(MatlabFile, StructsTextNumbersAndMasksComeBack) {
  const auto path = folder_ / "a.mat";
  const MatlabFields first{{"name", matlab_text("fox")}, {"at", matlab_numbers(2, 1, {3.0, 4.5})}};
  const MatlabFields second{{"name", matlab_text("")}, {"at", matlab_numbers(0, 0, {})}};
  write_matlab(path, "things", matlab_structs({first, second}), GetParam());
  const auto things = read_matlab(path, "things");
  EXPECT_EQ(things.count(), 2);
  EXPECT_EQ(things.field("name", 0).text(), "fox");
  EXPECT_EQ(things.field("at", 0).numbers(), (std::vector<double>{3.0, 4.5}));
  EXPECT_TRUE(things.field("at", 1).empty());
  EXPECT_EQ(things.field("name", 1).text(), "");
}

TEST_P(MatlabFile, MasksAreTurnedToRows) {
  const auto path = folder_ / "m.mat";
  write_matlab(path, "mask", matlab_mask(2, 3, {1, 0, 0, 0, 1, 1}), GetParam());
  const auto mask = read_matlab(path, "mask");
  EXPECT_EQ(mask.rows(), 2);
  EXPECT_EQ(mask.columns(), 3);
  EXPECT_EQ(mask.mask(), (std::vector<uint8_t>{1, 0, 0, 0, 1, 1}));
}

// 25 MB in a file of 25 kB (v5): weights would be refused for less, but masks are like that.
TEST_P(MatlabFile, MasksMayBeMuchLargerThanTheirFile) {
  const auto path = folder_ / "z.mat";
  constexpr int64_t kSide = 5000;
  const std::vector<uint8_t> pixels(kSide * kSide, 1);
  write_matlab(path, "mask", matlab_mask(kSide, kSide, pixels), GetParam(), MAT_COMPRESSION_ZLIB);
  EXPECT_LT(fs::file_size(path), pixels.size() / 20);
  EXPECT_EQ(read_matlab(path, "mask").mask(), pixels);
}

TEST_P(MatlabFile, TextMaySpellANumber) {
  const auto path = folder_ / "n.mat";
  const MatlabFields box{{"xmin", matlab_text("35")}, {"xmax", matlab_text("3x")}};
  write_matlab(path, "box", matlab_structs({box}), GetParam());
  const auto value = read_matlab(path, "box");
  EXPECT_EQ(value.field("xmin").number(), 35.0);
  EXPECT_THROW((void)value.field("xmax").number(), Error);
}

TEST_P(MatlabFile, WhatIsWrongIsNamed) {
  const auto path = folder_ / "w.mat";
  write_matlab(path, "box", matlab_structs({{{"xmin", matlab_text("1")}}}), GetParam());
  const auto reason = [&](const auto& act) -> std::string {
    try {
      act();
      return "nothing";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const auto box = read_matlab(path, "box");
  EXPECT_NE(reason([&] { (void)box.field("ymin"); }).find("w.mat: box: field 'ymin'"),
            std::string::npos);
  EXPECT_NE(reason([&] { (void)box.field("xmin").field("deep"); }).find("box(1).xmin"),
            std::string::npos);
  EXPECT_NE(reason([&] { read_matlab(path, "other"); }).find("'other'"), std::string::npos);
  EXPECT_NE(reason([&] { read_matlab(folder_ / "none.mat", "x"); }).find("no such file"),
            std::string::npos);
}

TEST_P(MatlabFile, DamagedFilesAreErrors) {
  const auto path = folder_ / "d.mat";
  write_matlab(path, "numbers", matlab_numbers(40, 50, std::vector<double>(2000, 1.5)), GetParam());
  const auto bytes = read_file(path);
  for (const std::size_t size : {std::size_t{0}, std::size_t{60}, std::size_t{130}}) {
    write_file_atomically(path, bytes.substr(0, size));
    EXPECT_THROW((void)read_matlab(path, "numbers").numbers(), Error) << size;
  }
  write_file_atomically(path, std::string(5000, 'x'));
  EXPECT_THROW(read_matlab(path, "numbers"), Error);
}

TEST_P(MatlabFile, HostileFilesEndInAnErrorOrAValue) {
  const auto path = folder_ / "h.mat";
  const auto fox = [] {
    return MatlabFields{{"name", matlab_text("fox")},
                        {"mask", matlab_mask(2, 3, {1, 0, 0, 0, 1, 1})},
                        {"parts", matlab_structs({{{"at", matlab_numbers(1, 2, {3.0, 4.5})}}})}};
  };
  write_matlab(path, "things", matlab_structs({fox(), fox(), fox()}), GetParam());
  const auto bytes = read_file(path);
  Random random(5);
  int errors = 0;
  for (int i = 0; i < 60; ++i) {
    auto damaged = bytes;
    for (int64_t flips = 1 + random.below(8); flips > 0; --flips) {
      damaged[static_cast<std::size_t>(random.below(static_cast<int64_t>(bytes.size())))] =
          static_cast<char>(random.below(256));
    }
    write_file_atomically(path, damaged);
    try {
      (void)read_matlab(path, "things");
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 5);
}

INSTANTIATE_TEST_SUITE_P(Versions, MatlabFile, testing::Bool(), [](const auto& test) {
  return test.param ? "v73" : "v5";
});

}  // namespace
}  // namespace partwise::datasets
