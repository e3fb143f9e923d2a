
#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/formats/convert.h"
#include "partwise/formats/matlab_fixture.h"
#include "partwise/weights/read_weights.h"

#include <gtest/gtest.h>

#include <cstring>

// HDF5 loses some memory of its own when it gives up on a damaged file.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "leak:libhdf5";
}

namespace partwise::weights {
namespace {

namespace fs = std::filesystem;
using formats::floats_of;
using formats::MatlabValue;
using formats::fixture::MatlabVersion;

MatlabValue single(std::vector<std::size_t> extents, const std::vector<float>& values) {
  return formats::fixture::matlab_array(formats::Dtype::f32, std::move(extents),
                                        formats::fixture::bytes_of(values));
}

MatlabValue word(const std::string& text) {
  return formats::fixture::matlab_text(text);
}

MatlabValue cells(std::vector<MatlabValue> values) {
  return formats::fixture::matlab_cells(std::move(values));
}

// A 1 x n structure array; row i holds the fields of element i.
MatlabValue structures(const std::vector<std::string>& fields,
                       const std::vector<std::vector<MatlabValue>>& rows) {
  std::vector<formats::fixture::MatlabFields> elements;
  for (const auto& row : rows) {
    auto& element = elements.emplace_back();
    for (std::size_t k = 0; k < fields.size(); ++k) element[fields[k]] = row[k];
  }
  return formats::fixture::matlab_structs(elements);
}

MatlabValue structure(const std::vector<std::string>& fields,
                      const std::vector<MatlabValue>& values) {
  return structures(fields, {values});
}

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

struct Kind {
  const char* name;
  MatlabVersion version;
  bool compressed;
};

class Mat : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam().version == MatlabVersion::v73 && !formats::matlab73_supported()) {
      GTEST_SKIP() << "built without HDF5";
    }
  }
  void TearDown() override { fs::remove(path_); }

  void write(const formats::MatlabVariables& variables) {
    formats::fixture::write_matlab(path_, variables, GetParam().version, GetParam().compressed);
  }

  // One convolution; the bytes of its file.
  std::string small_net() {
    const auto conv =
        structure({"name", "type", "weights"},
                  {word("conv1"), word("conv"),
                   cells({single({2, 3, 2, 4}, counted(48)), single({1, 4}, {5, 6, 7, 8})})});
    write({{"net", structure({"layers"}, {cells({conv})})}});
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

MatlabValue meta() {
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
  const auto conv =
      structure({"name", "type", "weights", "stride"},
                {word("conv1"), word("conv"),
                 cells({single({2, 3, 2, 4}, counted(48)), single({1, 4}, {5, 6, 7, 8})}),
                 single({1, 2}, {2, 2})});
  const auto relu = structure({"name", "type"}, {word("relu1"), word("relu")});
  const auto narrow = structure(
      {"name", "type", "weights"},
      {word("fc8"), word("conv"), cells({single({1, 1, 3}, {1, 2, 3}), single({1, 1}, {4})})});
  write({{"net", structure({"layers", "meta"}, {cells({conv, relu, narrow}), meta()})}});
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
  const auto conv =
      structure({"name", "type", "weights"},
                {word("c"), word("conv"), cells({single({1, 1}, {1}), single({1, 1}, {2})})});
  write({{"net", structure({"layers", "meta"}, {cells({conv}), meta()})}});
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
  const auto conv = structure(
      {"name", "type", "filters", "biases"},
      {word("conv1"), word("conv"), single({2, 2, 1, 1}, {0, 1, 2, 3}), single({1, 1}, {9})});
  std::vector<float> image(std::size_t{4} * 4 * 3, 10.0F);
  std::fill(image.begin() + 32, image.end(), 30.0F);
  const auto normalization = structure({"averageImage"}, {single({4, 4, 3}, image)});
  write({{"layers", cells({conv})}, {"normalization", normalization}});
  const auto file = read_weights(path_);
  EXPECT_EQ(floats_of(file.arrays.at("conv1.weight")), (std::vector<float>{0, 2, 1, 3}));
  EXPECT_EQ(file.metadata.at("normalization.averageImage"), "10 10 30");
}

TEST_P(Mat, ADagNetIsReadByItsParametersNames) {
  const auto parameters =
      structures({"name", "value"}, {{word("conv1f"), single({2, 2, 1, 3}, counted(12))},
                                     {word("conv1b"), single({3, 1}, {1, 2, 3})},
                                     {word("bn1x"), single({3, 2}, {1, 2, 3, 4, 5, 6})}});
  write({{"net", structure({"params"}, {parameters})}});
  const auto file = read_weights(path_);
  EXPECT_EQ(file.format, "MatConvNet DagNN");
  EXPECT_EQ(file.arrays.at("conv1f").shape, (std::vector<int64_t>{3, 1, 2, 2}));
  EXPECT_EQ(file.arrays.at("conv1b").shape, (std::vector<int64_t>{3}));
  EXPECT_EQ(file.arrays.at("bn1x").shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(floats_of(file.arrays.at("bn1x")), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST_P(Mat, AFileWithoutANetworkSaysWhatItHas) {
  write({{"samples", single({1, 2}, {1, 2})}});
  EXPECT_EQ(reason(),
            path_.string() +
                ": no MatConvNet network in it (neither net.layers nor net.params); it has: "
                "samples");
}

TEST_P(Mat, WeightsThatAreNoNumbersAreNamed) {
  const auto conv =
      structure({"name", "type", "weights"},
                {word("conv1"), word("conv"), cells({word("text"), single({1, 1}, {2})})});
  write({{"net", structure({"layers"}, {cells({conv})})}});
  EXPECT_EQ(reason(), path_.string() +
                          ": conv1.weight: not a dense array of real numbers (on a GPU? move the "
                          "net to the CPU and save again)");
}

TEST_P(Mat, TruncatedFilesAreRefusedInOneLine) {
  const auto whole = small_net();
  const bool ours = GetParam().version == MatlabVersion::v5;
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

TEST_P(Mat, AnOldFileThatSaysItIsNewIsRefused) {
  if (GetParam().version != MatlabVersion::v5) GTEST_SKIP() << "about version 5";
  write({{"layers", cells({single({1, 1}, {1})})}});
  auto bytes = read_file(path_);
  bytes.replace(0, 11, "MATLAB 7.3 ");
  write_file_atomically(path_, bytes);
  EXPECT_EQ(reason(), path_.string() + ": damaged or truncated MATLAB 7.3 file");
}

INSTANTIATE_TEST_SUITE_P(Versions,
                         Mat,
                         testing::Values(Kind{"v5", MatlabVersion::v5, false},
                                         Kind{"v5zlib", MatlabVersion::v5, true},
                                         Kind{"v73", MatlabVersion::v73, false}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace partwise::weights
