#include "partwise/weights/matconvnet.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/weights/convert.h"
#include "partwise/weights/read_weights.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <matio.h>
#include <zlib.h>

// HDF5 loses some memory of its own when it gives up on a damaged file.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "leak:libhdf5";
}

namespace partwise::weights {
namespace {

namespace fs = std::filesystem;

// MATLAB values by hand; matio copies what it is given and owns what is put into cells and fields.
matvar_t* single(std::vector<std::size_t> extents, std::vector<float> values) {
  return Mat_VarCreate(nullptr, MAT_C_SINGLE, MAT_T_SINGLE, static_cast<int>(extents.size()),
                       extents.data(), values.data(), 0);
}

matvar_t* word(std::string text) {
  std::array<std::size_t, 2> extents{1, text.size()};
  return Mat_VarCreate(nullptr, MAT_C_CHAR, MAT_T_UINT8, 2, extents.data(), text.data(), 0);
}

matvar_t* cells(const std::vector<matvar_t*>& values, const char* name = nullptr) {
  std::array<std::size_t, 2> extents{1, values.size()};
  auto* cell = Mat_VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, extents.data(), nullptr, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Mat_VarSetCell(cell, static_cast<int>(i), values[i]);
  }
  return cell;
}

// A 1 x n structure array; row i holds the fields of element i.
matvar_t* structures(const std::vector<const char*>& fields,
                     const std::vector<std::vector<matvar_t*>>& rows,
                     const char* name = nullptr) {
  std::array<std::size_t, 2> extents{1, rows.size()};
  auto names = fields;
  names.push_back(nullptr);
  auto* result = Mat_VarCreateStruct2(name, 2, extents.data(), names.data());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < fields.size(); ++k) {
      Mat_VarSetStructFieldByName(result, fields[k], i, rows[i][k]);
    }
  }
  return result;
}

matvar_t* structure(const std::vector<const char*>& fields,
                    const std::vector<matvar_t*>& values,
                    const char* name = nullptr) {
  return structures(fields, {values}, name);
}

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

// What MATLAB does by default and matio does wrong (version 1.5.23): each variable deflated.
std::string deflated(const std::string& plain) {
  auto result = plain.substr(0, 128);
  for (std::size_t at = 128; at < plain.size();) {
    uint32_t size = 0;
    std::memcpy(&size, &plain[at + 4], sizeof size);
    uLongf packed = compressBound(size + 8);
    std::string bytes(packed, '\0');
    compress(reinterpret_cast<Bytef*>(bytes.data()), &packed,
             reinterpret_cast<const Bytef*>(&plain[at]), size + 8);
    const std::array<uint32_t, 2> tag{15, static_cast<uint32_t>(packed)};
    result.append(reinterpret_cast<const char*>(tag.data()), sizeof tag);
    result.append(bytes, 0, packed);
    at += size + 8;
  }
  return result;
}

struct Kind {
  const char* name;
  mat_ft version;
  bool compressed;
};

class Mat : public testing::TestWithParam<Kind> {
 protected:
  void TearDown() override { fs::remove(path_); }

  void write(const std::vector<matvar_t*>& variables) {
    fs::remove(path_);
    auto* file = Mat_CreateVer(path_.c_str(), nullptr, GetParam().version);
    ASSERT_NE(file, nullptr);
    for (auto* variable : variables) {
      EXPECT_EQ(Mat_VarWrite(file, variable, MAT_COMPRESSION_NONE), 0);
      Mat_VarFree(variable);
    }
    Mat_Close(file);
    if (GetParam().compressed) write_file_atomically(path_, deflated(read_file(path_)));
  }

  // One convolution; the bytes of its file.
  std::string small_net() {
    auto* conv =
        structure({"name", "type", "weights"},
                  {word("conv1"), word("conv"),
                   cells({single({2, 3, 2, 4}, counted(48)), single({1, 4}, {5, 6, 7, 8})})});
    write({structure({"layers"}, {cells({conv})}, "net")});
    return read_file(path_);
  }

  std::string reason() {
    return reason_for([&] { read_weights(path_); });
  }

  template <typename Read>
  static std::string reason_for(Read&& read) {
    try {
      read();
      return "read";
    } catch (const Error& error) {
      return error.what();
    }
  }

  fs::path path_ = fs::path(testing::TempDir()) / fmt::format("partwise-{}.mat", GetParam().name);
};

matvar_t* meta() {
  return structure(
      {"normalization", "classes"},
      {structure({"imageSize", "averageImage", "border", "interpolation"},
                 {single({1, 4}, {224, 224, 3, 10}), single({1, 1, 3}, {123.5F, 116.75F, 103.25F}),
                  single({1, 2}, {32, 32}), word("bicubic")}),
       structure({"name", "description"},
                 {cells({word("n01440764"), word("n01443537")}),
                  cells({word("tench, Tinca tinca"), word("goldfish")})})});
}

TEST_P(Mat, ASimpleNetIsReadWithKernelsTurned) {
  // 2 x 3 x 2 x 4: height fastest, then width, inputs, outputs.
  auto* conv = structure({"name", "type", "weights", "stride"},
                         {word("conv1"), word("conv"),
                          cells({single({2, 3, 2, 4}, counted(48)), single({1, 4}, {5, 6, 7, 8})}),
                          single({1, 2}, {2, 2})});
  auto* relu = structure({"name", "type"}, {word("relu1"), word("relu")});
  auto* narrow = structure(
      {"name", "type", "weights"},
      {word("fc8"), word("conv"), cells({single({1, 1, 3}, {1, 2, 3}), single({1, 1}, {4})})});
  write({structure({"layers", "meta"}, {cells({conv, relu, narrow}), meta()}, "net")});
  const auto file = read_weights(path_);
  EXPECT_EQ(file.format, "MatConvNet simplenn");
  ASSERT_EQ(file.arrays.size(), 4U);
  const auto& weight = file.arrays.at("conv1.weight");
  EXPECT_EQ(weight.shape, (std::vector<int64_t>{4, 2, 2, 3}));
  const auto values = floats_of(weight);
  for (std::size_t out = 0; out < 4; ++out) {
    for (std::size_t in = 0; in < 2; ++in) {
      for (std::size_t y = 0; y < 2; ++y) {
        for (std::size_t x = 0; x < 3; ++x) {
          EXPECT_EQ(values[((out * 2 + in) * 2 + y) * 3 + x],
                    static_cast<float>(y + 2 * (x + 3 * (in + 2 * out))));
        }
      }
    }
  }
  EXPECT_EQ(floats_of(file.arrays.at("conv1.bias")), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(file.arrays.at("conv1.bias").shape, (std::vector<int64_t>{4}));
  EXPECT_EQ(file.arrays.at("fc8.weight").shape, (std::vector<int64_t>{1, 3, 1, 1}));
  EXPECT_EQ(file.arrays.at("fc8.bias").shape, (std::vector<int64_t>{1}));
}

TEST_P(Mat, NormalizationAndClassesAreKept) {
  auto* conv =
      structure({"name", "type", "weights"},
                {word("c"), word("conv"), cells({single({1, 1}, {1}), single({1, 1}, {2})})});
  write({structure({"layers", "meta"}, {cells({conv}), meta()}, "net")});
  const auto metadata = read_weights(path_).metadata;
  EXPECT_EQ(metadata.at("normalization.imageSize"), "224 224 3 10");
  EXPECT_EQ(metadata.at("normalization.averageImage"), "123.5 116.75 103.25");
  EXPECT_EQ(metadata.at("normalization.border"), "32 32");
  EXPECT_EQ(metadata.at("normalization.interpolation"), "bicubic");
  EXPECT_EQ(metadata.at("classes"), R"(["n01440764","n01443537"])");
  EXPECT_EQ(metadata.at("class_descriptions"), R"(["tench, Tinca tinca","goldfish"])");
}

// As the models on MatConvNet's page are: save -struct, with the fields of 2014.
TEST_P(Mat, AnOldNetWithoutNetAndMetaIsRead) {
  auto* conv = structure(
      {"name", "type", "filters", "biases"},
      {word("conv1"), word("conv"), single({2, 2, 1, 1}, {0, 1, 2, 3}), single({1, 1}, {9})});
  std::vector<float> image(std::size_t{4} * 4 * 3, 10.0F);
  std::fill(image.begin() + 32, image.end(), 30.0F);
  auto* normalization = structure({"averageImage"}, {single({4, 4, 3}, image)}, "normalization");
  write({cells({conv}, "layers"), normalization});
  const auto file = read_weights(path_);
  EXPECT_EQ(floats_of(file.arrays.at("conv1.weight")), (std::vector<float>{0, 2, 1, 3}));
  EXPECT_EQ(file.metadata.at("normalization.averageImage"), "10 10 30");
}

TEST_P(Mat, ADagNetIsReadByItsParametersNames) {
  write({structure(
      {"params"},
      {structures({"name", "value"}, {{word("conv1f"), single({2, 2, 1, 3}, counted(12))},
                                      {word("conv1b"), single({3, 1}, {1, 2, 3})},
                                      {word("bn1x"), single({3, 2}, {1, 2, 3, 4, 5, 6})}})},
      "net")});
  const auto file = read_weights(path_);
  EXPECT_EQ(file.format, "MatConvNet DagNN");
  EXPECT_EQ(file.arrays.at("conv1f").shape, (std::vector<int64_t>{3, 1, 2, 2}));
  EXPECT_EQ(file.arrays.at("conv1b").shape, (std::vector<int64_t>{3}));
  EXPECT_EQ(file.arrays.at("bn1x").shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(floats_of(file.arrays.at("bn1x")), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST_P(Mat, AFileWithoutANetworkSaysWhatItHas) {
  std::array<std::size_t, 2> extents{1, 2};
  std::array<float, 2> data{1, 2};
  write({Mat_VarCreate("samples", MAT_C_SINGLE, MAT_T_SINGLE, 2, extents.data(), data.data(), 0)});
  EXPECT_EQ(reason(),
            path_.string() +
                ": no MatConvNet network in it (neither net.layers nor net.params); it has: "
                "samples");
}

TEST_P(Mat, WeightsThatAreNoNumbersAreNamed) {
  auto* conv = structure({"name", "type", "weights"},
                         {word("conv1"), word("conv"), cells({word("text"), single({1, 1}, {2})})});
  write({structure({"layers"}, {cells({conv})}, "net")});
  EXPECT_EQ(reason(), path_.string() +
                          ": conv1.weight: not a dense array of real numbers (on a GPU? move the "
                          "net to the CPU and save again)");
}

TEST_P(Mat, TruncatedFilesAreRefusedInOneLine) {
  const auto whole = small_net();
  const bool ours = GetParam().version == MAT_FT_MAT5;
  const std::size_t step = ours ? 1 : std::max<std::size_t>(1, whole.size() / 97);
  for (std::size_t keep = 0; keep < whole.size(); keep += step) {
    const auto part = whole.substr(0, keep);
    if (!ours) write_file_atomically(path_, part);
    const auto why =
        ours ? reason_for([&] { parse_weights(bytes_in_memory(path_.string(), part)); }) : reason();
    EXPECT_EQ(why.find('\n'), std::string::npos) << keep;
    if (ours || keep < whole.size() / 2) {  // the end of an HDF5 file may not be needed
      EXPECT_EQ(why.rfind(path_.string() + ": ", 0), 0U) << keep;
    }
  }
}

TEST_P(Mat, FilesWithWrongBytesAreReadOrRefusedInOneLine) {
  const auto whole = small_net();
  Random random(5);
  for (int attempt = 0; attempt < 300; ++attempt) {
    auto bytes = whole;
    for (int64_t wrong = random.below(4); wrong >= 0; --wrong) {
      bytes[static_cast<std::size_t>(random.below(static_cast<int64_t>(bytes.size())))] =
          static_cast<char>(random.below(256));
    }
    write_file_atomically(path_, bytes);
    EXPECT_EQ(reason().find('\n'), std::string::npos) << attempt;
  }
}

TEST_P(Mat, AnOldFileThatSaysItIsNewDoesNotReachMatio) {
  if (GetParam().version != MAT_FT_MAT5) GTEST_SKIP() << "about version 5";
  write({cells({single({1, 1}, {1})}, "layers")});
  auto bytes = read_file(path_);
  bytes.replace(0, 11, "MATLAB 7.3 ");
  write_file_atomically(path_, bytes);
  EXPECT_EQ(reason(), path_.string() + ": damaged or truncated MATLAB 7.3 file");
}

INSTANTIATE_TEST_SUITE_P(Versions,
                         Mat,
                         testing::Values(Kind{"v5", MAT_FT_MAT5, false},
                                         Kind{"v5zlib", MAT_FT_MAT5, true},
                                         Kind{"v73", MAT_FT_MAT73, false}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace partwise::weights
