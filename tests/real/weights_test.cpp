#include "partwise/base/error.h"
#include "partwise/formats/matlab.h"
#include "partwise/weights/inspect.h"
#include "partwise/weights/match.h"
#include "partwise/weights/read_weights.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace partwise::weights {
namespace {

namespace fs = std::filesystem;

struct Convolution {
  const char* name;
  int64_t out;
  int64_t in;  // of one group
  int64_t side;
};

// Layers as the files' own metadata and README describe them.
std::vector<Wanted> wanted(const std::vector<Convolution>& layers) {
  std::vector<Wanted> arrays;
  for (const auto& [name, out, in, side] : layers) {
    arrays.push_back({fmt::format("{}.weight", name), {out, in, side, side}});
    arrays.push_back({fmt::format("{}.bias", name), {out}});
  }
  return arrays;
}

std::vector<Wanted> vgg16() {
  return wanted({{"conv1_1", 64, 3, 3},
                 {"conv1_2", 64, 64, 3},
                 {"conv2_1", 128, 64, 3},
                 {"conv2_2", 128, 128, 3},
                 {"conv3_1", 256, 128, 3},
                 {"conv3_2", 256, 256, 3},
                 {"conv3_3", 256, 256, 3},
                 {"conv4_1", 512, 256, 3},
                 {"conv4_2", 512, 512, 3},
                 {"conv4_3", 512, 512, 3},
                 {"conv5_1", 512, 512, 3},
                 {"conv5_2", 512, 512, 3},
                 {"conv5_3", 512, 512, 3}});
}

std::vector<Wanted> squeezenet() {
  auto arrays = wanted({{"features.0", 64, 3, 3}, {"classifier.1", 1000, 512, 1}});
  int64_t in = 64;
  for (const auto& [index, squeeze] : std::vector<std::pair<int, int64_t>>{
           {3, 16}, {4, 16}, {6, 32}, {7, 32}, {9, 48}, {10, 48}, {11, 64}, {12, 64}}) {
    const auto fire = fmt::format("features.{}.", index);
    const auto one = wanted({{"squeeze", squeeze, in, 1},
                             {"expand1x1", 4 * squeeze, squeeze, 1},
                             {"expand3x3", 4 * squeeze, squeeze, 3}});
    for (const auto& [name, shape] : one) arrays.push_back({fire + name, shape});
    in = 8 * squeeze;
  }
  return arrays;
}

TEST(RealWeights, FiveNetsOpenAndHaveTheShapesTheyDescribe) {
  const char* root = std::getenv("PARTWISE_REAL_WEIGHTS");
  if (root == nullptr) GTEST_SKIP() << "PARTWISE_REAL_WEIGHTS is not set";
  const std::map<std::string, std::vector<Wanted>> nets{
      {"alexnet", wanted({{"conv1", 96, 3, 11},
                          {"conv2", 256, 48, 5},
                          {"conv3", 384, 256, 3},
                          {"conv4", 384, 192, 3},
                          {"conv5", 256, 192, 3}})},
      {"vgg_m", wanted({{"conv1", 96, 3, 7},
                        {"conv2", 256, 96, 5},
                        {"conv3", 512, 256, 3},
                        {"conv4", 512, 512, 3},
                        {"conv5", 512, 512, 3}})},
      {"vgg_s", wanted({{"conv1", 96, 3, 7},
                        {"conv2", 256, 96, 5},
                        {"conv3", 512, 256, 3},
                        {"conv4", 512, 512, 3},
                        {"conv5", 512, 512, 3}})},
      {"vgg16", vgg16()},
      {"squeezenet1_1", squeezenet()},
  };
  for (const auto& [name, arrays] : nets) {
    const auto file = read_weights(fs::path(root) / (name + ".safetensors"));
    const auto result = match(arrays, file);
    EXPECT_TRUE(result.complete() && result.surplus.empty()) << name << '\n' << describe(result);
    EXPECT_EQ(file.metadata.at("name"), name);
    for (const auto& [array_name, array] : file.arrays) {
      EXPECT_EQ(array.dtype, formats::Dtype::f16) << name << ' ' << array_name;
      const auto range = range_of(array);
      EXPECT_EQ(range.not_finite, 0U) << name << ' ' << array_name;
      EXPECT_LT(range.min, range.max) << name << ' ' << array_name;
    }
  }
}

// Not weights, but MATLAB's own: what our reader of its files makes of files we did not write.
TEST(RealWeights, EveryMatlab5FileOfTheDataSetsParses) {
  const char* root = std::getenv("PARTWISE_REAL_DATA");
  if (root == nullptr) GTEST_SKIP() << "PARTWISE_REAL_DATA is not set";
  int64_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".mat") continue;
    const auto file = map_file(entry.path());
    if (file.bytes.substr(0, 10) != "MATLAB 5.0") continue;
    const auto variables = formats::parse_matlab5(file);
    EXPECT_FALSE(variables.empty()) << entry.path();
    for (const auto& [name, value] : variables) {
      EXPECT_NE(value.kind, formats::MatlabValue::Kind::absent) << entry.path() << ' ' << name;
    }
    ++files;
  }
  EXPECT_GE(files, 1);
}

}  // namespace
}  // namespace partwise::weights
