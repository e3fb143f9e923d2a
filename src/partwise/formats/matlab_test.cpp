#include "partwise/formats/matlab.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/base/removal.h"
#include "partwise/formats/matlab_fixture.h"

#include <gtest/gtest.h>

#include <functional>

// HDF5 loses some memory of its own when it gives up on a damaged file.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "leak:libhdf5";
}

namespace partwise::formats {
namespace {

namespace fs = std::filesystem;
using namespace fixture;

class MatlabFile : public testing::TestWithParam<MatlabVersion> {
 protected:
  void SetUp() override {
    if (GetParam() == MatlabVersion::v73 && !matlab73_supported()) {
      GTEST_SKIP() << "built without HDF5";
    }
    fs::create_directories(folder_);
  }
  void TearDown() override { remove_folder(folder_); }

  static void write(const fs::path& path,
                    const std::string& name,
                    const MatlabValue& value,
                    bool compressed = false) {
    write_matlab(path, {{name, value}}, GetParam(), compressed);
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-matlab-test";
};

TEST_P(MatlabFile, EveryKindOfValueComesBackAsItWas) {
  const auto path = folder_ / "all.mat";
  MatlabVariables variables;
  const std::string bytes("\0\1\2\3\4\5\6\x41\0\1\2\3\4\5\6\x42", 16);
  for (const auto dtype : {Dtype::f64, Dtype::f32, Dtype::i64, Dtype::u64, Dtype::i32, Dtype::u32,
                           Dtype::i16, Dtype::u16, Dtype::i8, Dtype::u8}) {
    variables[fmt::format("n{}", name_of(dtype))] =
        matlab_array(dtype, {1, bytes.size() / size_of(dtype)}, bytes);
  }
  variables["cube"] = matlab_array(Dtype::u8, {2, 4, 2}, bytes);
  variables["yes"] = matlab_array(Dtype::boolean, {2, 1}, std::string("\1\0", 2));
  variables["word"] = matlab_text("fox");
  variables["nothing"] = matlab_numbers(0, 0, {});
  variables["no_word"] = matlab_text("");
  variables["cells"] = matlab_cells({matlab_text("a"), matlab_cells({matlab_numbers(1, 1, {2})})});
  variables["no_cells"] = matlab_cells({});
  variables["one"] = matlab_structs({{{"x", matlab_text("1")}, {"y", matlab_cells({})}}});
  variables["two"] =
      matlab_structs({{{"x", matlab_text("1")}}, {{"x", matlab_numbers(1, 1, {2})}}});
  write_matlab(path, variables, GetParam());
  const auto read = read_matlab(path);
  const std::function<void(const MatlabValue&, const MatlabValue&, const std::string&)> compare =
      [&](const MatlabValue& given, const MatlabValue& wanted, const std::string& name) {
        EXPECT_EQ(given.kind, wanted.kind) << name;
        EXPECT_EQ(product(given.extents), product(wanted.extents)) << name;
        if (product(wanted.extents) != std::size_t{0}) {
          EXPECT_EQ(given.extents, wanted.extents) << name;
          EXPECT_EQ(given.dtype, wanted.dtype) << name;
        }
        EXPECT_EQ(given.bytes, wanted.bytes) << name;
        EXPECT_EQ(given.text, wanted.text) << name;
        EXPECT_EQ(given.fields, wanted.fields) << name;
        ASSERT_EQ(given.items.size(), wanted.items.size()) << name;
        for (std::size_t i = 0; i < wanted.items.size(); ++i) {
          compare(given.items[i], wanted.items[i], fmt::format("{}, item {}", name, i));
        }
      };
  ASSERT_EQ(read.size(), variables.size());
  for (const auto& [name, value] : variables) compare(read.at(name), value, name);
}

TEST_P(MatlabFile, StructsTextNumbersAndMasksComeBack) {
  const auto path = folder_ / "a.mat";
  const MatlabFields first{{"name", matlab_text("fox")}, {"at", matlab_numbers(2, 1, {3.0, 4.5})}};
  const MatlabFields second{{"name", matlab_text("")}, {"at", matlab_numbers(0, 0, {})}};
  write(path, "things", matlab_structs({first, second}));
  const auto things = read_matlab(path, "things");
  EXPECT_EQ(things.count(), 2);
  EXPECT_EQ(things.field("name", 0).text(), "fox");
  EXPECT_EQ(things.field("at", 0).numbers(), (std::vector<double>{3.0, 4.5}));
  EXPECT_TRUE(things.field("at", 1).empty());
  EXPECT_EQ(things.field("name", 1).text(), "");
}

TEST_P(MatlabFile, MasksAreTurnedToRows) {
  const auto path = folder_ / "m.mat";
  write(path, "mask", matlab_mask(2, 3, {1, 0, 0, 0, 1, 1}));
  const auto mask = read_matlab(path, "mask");
  EXPECT_EQ(mask.rows(), 2);
  EXPECT_EQ(mask.columns(), 3);
  EXPECT_EQ(mask.mask(), (std::vector<uint8_t>{1, 0, 0, 0, 1, 1}));
}

// 25 MB in a file of 25 kB (v5): weights would be refused for less, but masks are like that.
TEST_P(MatlabFile, MasksMayBeMuchLargerThanTheirFile) {
  const auto path = folder_ / "z.mat";
  constexpr std::size_t kSide = 5000;
  const std::vector<uint8_t> pixels(kSide * kSide, 1);
  write(path, "mask", matlab_mask(kSide, kSide, pixels), true);
  EXPECT_LT(fs::file_size(path), pixels.size() / 20);
  EXPECT_EQ(read_matlab(path, "mask").mask(), pixels);
}

TEST_P(MatlabFile, TextMaySpellANumber) {
  const auto path = folder_ / "n.mat";
  const MatlabFields box{{"xmin", matlab_text("35")}, {"xmax", matlab_text("3x")}};
  write(path, "box", matlab_structs({box}));
  const auto value = read_matlab(path, "box");
  EXPECT_EQ(value.field("xmin").number(), 35.0);
  EXPECT_THROW((void)value.field("xmax").number(), Error);
}

TEST_P(MatlabFile, WhatIsWrongIsNamed) {
  const auto path = folder_ / "w.mat";
  write(path, "box", matlab_structs({{{"xmin", matlab_text("1")}}}));
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
  write(path, "numbers", matlab_numbers(40, 50, std::vector<double>(2000, 1.5)));
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
  write(path, "things", matlab_structs({fox(), fox(), fox()}));
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

INSTANTIATE_TEST_SUITE_P(Versions,
                         MatlabFile,
                         testing::Values(MatlabVersion::v5, MatlabVersion::v73),
                         [](const auto& test) {
                           return test.param == MatlabVersion::v5 ? "v5" : "v73";
                         });

}  // namespace
}  // namespace partwise::formats
