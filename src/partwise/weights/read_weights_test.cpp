#include "partwise/weights/read_weights.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/formats/pth_fixture.h"
#include "partwise/formats/safetensors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace partwise::weights {
namespace {

namespace fs = std::filesystem;
using formats::Dtype;
using formats::make_array;
using formats::NamedArrays;

class ReadWeights : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { remove_folder(folder_); }

  std::string reason(const std::string& bytes) {
    write_file_atomically(folder_ / "x", bytes);
    return reason_of("x");
  }
  std::string reason_of(const std::string& name) {
    try {
      read_weights(folder_ / name);
      return "read";
    } catch (const Error& error) {
      const std::string text = error.what();
      const auto place = (folder_ / name).string() + ": ";
      EXPECT_EQ(text.rfind(place, 0), 0U) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      return text.substr(std::min(text.size(), place.size()));
    }
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-read-weights";
};

TEST_F(ReadWeights, ContentCountsNotTheEnding) {
  NamedArrays file;
  file.arrays["a"] = make_array(Dtype::u8, {1}, "x");
  formats::write_safetensors(folder_ / "net.pth", file);
  EXPECT_EQ(read_weights(folder_ / "net.pth").format, "safetensors");
  write_file_atomically(folder_ / "net.safetensors",
                        formats::fixture::pth(formats::fixture::program("}")));
  EXPECT_EQ(read_weights(folder_ / "net.safetensors").format, "PyTorch");
}

TEST_F(ReadWeights, WhatIsOftenTakenForWeightsGetsARemedy) {
  EXPECT_EQ(reason(""), "zero bytes");
  EXPECT_EQ(reason("hello, world"), "not a weights file (neither safetensors nor .pth nor .mat)");
  EXPECT_EQ(reason("<!DOCTYPE html>"), "a web page, not weights; the download went wrong");
  EXPECT_EQ(reason("version https://git-lfs.github.com/spec/v1\n"),
            "only a Git LFS pointer; fetch the file itself with: git lfs pull");
  EXPECT_EQ(reason("\x1F\x8B\x08 and more"), "a compressed file; unpack it first");
  EXPECT_EQ(
      reason("\x80\x02\x8A\x0Al\xFC\x9C"
             "F\xF9 j\xA8P\x19."),
      "refused: a bare pickle, as PyTorch before 1.6 wrote; load it in a PyTorch you trust it "
      "with and torch.save its state_dict() again");
}

TEST_F(ReadWeights, FoldersAndMissingFilesAreNamed) {
  EXPECT_EQ(reason_of("none"), "cannot open: No such file or directory");
  fs::create_directory(folder_ / "sub");
  EXPECT_EQ(reason_of("sub"), "is a folder, expected a file");
}

// Skipped where no python3 has PyTorch; the hand-made files of pth_test.cpp cover the format there.
class FromPyTorch : public ReadWeights {
 protected:
  bool write_with_torch() {
    for (const char* python : {"python3", "/usr/bin/python3"}) {
      const auto command = fmt::format("{} '{}/tests/weights/write_pth.py' '{}' 2> /dev/null",
                                       python, PARTWISE_SOURCE_DIR, folder_.string());
      if (std::system(command.c_str()) == 0) return true;
    }
    return false;
  }
};

std::vector<int64_t> shape_from(const std::string& text) {
  std::vector<int64_t> shape;
  if (text == "-") return shape;
  std::istringstream numbers(text);
  for (std::string number; std::getline(numbers, number, ',');) shape.push_back(std::stoll(number));
  return shape;
}

TEST_F(FromPyTorch, EveryTensorComesBackBitForBit) {
  if (!write_with_torch()) GTEST_SKIP() << "no PyTorch here: apt-get install python3-torch";
  std::ifstream expected(folder_ / "expected.txt");
  std::string file, name, dtype, shape, raw;
  int compared = 0;
  while (expected >> file >> name >> dtype >> shape >> raw) {
    const auto weights = read_weights(folder_ / file);
    ASSERT_TRUE(weights.arrays.contains(name)) << file << ' ' << name;
    const auto& array = weights.arrays.at(name);
    EXPECT_EQ(name_of(array.dtype), dtype) << file << ' ' << name;
    EXPECT_EQ(array.shape, shape_from(shape)) << file << ' ' << name;
    EXPECT_EQ(array.bytes, read_file(folder_ / raw)) << file << ' ' << name;
    ++compared;
  }
  EXPECT_GE(compared, 60);
  EXPECT_EQ(read_weights(folder_ / "checkpoint.pth").skipped,
            (std::vector<std::string>{"epoch: the number 90", "arch: the text 'net'",
                                      "best: the number 0.5", "optimizer: a dictionary of 2"}));
  EXPECT_EQ(reason_of("legacy.pth").rfind("refused: a bare pickle", 0), 0U);
  EXPECT_EQ(reason_of("module.pth")
                .rfind("refused: the pickle asks for torch.nn.modules.container.Sequential", 0),
            0U);
}

}  // namespace
}  // namespace partwise::weights
