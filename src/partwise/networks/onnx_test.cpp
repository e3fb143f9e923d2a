#include "partwise/networks/onnx.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/formats/protobuf_reader_fixture.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace partwise::networks {
namespace {

using formats::protobuf_fields;
using formats::protobuf_text;

namespace fs = std::filesystem;

// What a reader of onnx.proto finds in the file; numbers are that schema's.
struct Model {
  std::string bytes;
  std::string_view graph;
  std::map<std::string, int> operations;
  std::map<std::string, std::string_view> initializers;
  std::set<std::string> outputs;
  std::map<std::string, std::string> metadata;
};

class Onnx : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  Model write(const Network& network) {
    write_onnx(path_, network, {{"arm", "some"}});
    Model model;
    model.bytes = read_file(path_);
    EXPECT_EQ(protobuf_fields(model.bytes, 1).at(0).value, 8U);  // IR version
    const auto opset = protobuf_fields(model.bytes, 8).at(0).body;
    EXPECT_EQ(protobuf_fields(opset, 2).at(0).value, 17U);
    for (const auto& entry : protobuf_fields(model.bytes, 14)) {
      model.metadata[protobuf_text(entry.body, 1)] = protobuf_text(entry.body, 2);
    }
    model.graph = protobuf_fields(model.bytes, 7).at(0).body;
    for (const auto& tensor : protobuf_fields(model.graph, 5)) {
      EXPECT_TRUE(model.initializers.emplace(protobuf_text(tensor.body, 8), tensor.body).second);
    }
    for (const auto& output : protobuf_fields(model.graph, 12)) {
      model.outputs.insert(protobuf_text(output.body, 1));
    }
    read_nodes(model);
    return model;
  }

  fs::path path_ = fs::path(testing::TempDir()) / "partwise-test.onnx";

 private:
  // Every value is made once, before it is used; every output is made.
  static void read_nodes(Model& model) {
    std::set<std::string> known{"images"};
    for (const auto& [name, tensor] : model.initializers) known.insert(name);
    for (const auto& node : protobuf_fields(model.graph, 1)) {
      ++model.operations[protobuf_text(node.body, 4)];
      for (const auto& input : protobuf_fields(node.body, 1)) {
        EXPECT_TRUE(known.contains(std::string(input.body))) << input.body;
      }
      EXPECT_TRUE(known.insert(protobuf_text(node.body, 2)).second) << protobuf_text(node.body, 2);
    }
    for (const auto& output : model.outputs) EXPECT_TRUE(known.contains(output)) << output;
  }
};

Network network_of(const std::string& net, Arm arm, const parts::PartOptions& options = {}) {
  return {build_architecture(net, arm, 3, options, {.hidden = 8}), 3, options, 1};
}

TEST_F(Onnx, HoldsEveryParameterAndStatisticOnceBitByBit) {
  const auto network = network_of("resnet-18", Arm::ordinary_layer);
  const auto model = write(network);
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : network.state()) {
    const auto found = model.initializers.find(name);
    ASSERT_NE(found, model.initializers.end()) << name;
    std::vector<int64_t> shape;
    for (const auto& extent : protobuf_fields(found->second, 1)) {
      shape.push_back(static_cast<int64_t>(extent.value));
    }
    EXPECT_EQ(tensor.sizes(), shape) << name;
    EXPECT_EQ(protobuf_fields(found->second, 2).at(0).value, 1U) << name;  // float32
    const auto raw = protobuf_text(found->second, 9);
    ASSERT_EQ(raw.size(), tensor.nbytes()) << name;
    EXPECT_EQ(std::memcmp(raw.data(), tensor.data_ptr(), raw.size()), 0) << name;
    bytes += raw.size();
  }
  EXPECT_LT(model.bytes.size() - bytes, 100'000U);  // the rest is names
}

TEST_F(Onnx, ANodeStandsForEveryLayerButDropout) {
  const auto plain = write(network_of("tiny", Arm::ordinary));
  EXPECT_EQ(plain.operations, (std::map<std::string, int>{{"ArgMax", 1},
                                                          {"BatchNormalization", 4},
                                                          {"Concat", 1},
                                                          {"Conv", 4},
                                                          {"Div", 1},
                                                          {"Flatten", 1},
                                                          {"Gemm", 2},
                                                          {"MaxPool", 3},
                                                          {"Mod", 1},
                                                          {"Relu", 5},
                                                          {"Reshape", 1}}));
  const auto grouped = write(network_of("alexnet", Arm::ordinary));
  EXPECT_EQ(grouped.operations.at("LRN"), 2);
  const auto branched = write(network_of("squeezenet1-1", Arm::ordinary));
  EXPECT_EQ(branched.operations.at("Concat"), 8 + 1);  // fire modules and peaks
  const auto residual = write(network_of("resnet-18", Arm::ordinary));
  EXPECT_EQ(residual.operations.at("Add"), 8);
}

TEST_F(Onnx, TapsAreOutputsMaskedOnesTwice) {
  const std::set<std::string> one{"logits", "conv4.maps", "conv4.peaks"};
  EXPECT_EQ(write(network_of("tiny", Arm::ordinary)).outputs, one);
  const std::set<std::string> all{"logits",   "conv4.maps", "conv4.peaks", "conv4.masked",
                                  "new.maps", "new.peaks",  "new.masked"};
  EXPECT_EQ(write(network_of("tiny", Arm::interpretable)).outputs, all);
}

TEST_F(Onnx, APeakIsLookedForAgainOnlyBehindPooling) {
  EXPECT_EQ(write(network_of("tiny", Arm::masked)).operations.at("ArgMax"), 2);
  parts::PartOptions options;
  options.mask_place = "after-pooling";
  EXPECT_EQ(write(network_of("tiny", Arm::masked, options)).operations.at("ArgMax"), 3);
  options.peak = "centroid";
  const auto model = write(network_of("tiny", Arm::masked, options));
  EXPECT_FALSE(model.operations.contains("ArgMax"));
  EXPECT_EQ(model.operations.at("Round"), 6);
}

TEST_F(Onnx, MetadataSayWhereUnitsLieAndWhatFiltersStandFor) {
  const auto metadata = write(network_of("tiny", Arm::interpretable)).metadata;
  EXPECT_EQ(metadata.at("arm"), "some");
  EXPECT_EQ(metadata.at("net"), "tiny");
  EXPECT_EQ(metadata.at("input_side"), "112");
  const auto layers = nlohmann::json::parse(metadata.at("layers"));
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[1].at("name"), "new");
  EXPECT_EQ(layers[1].at("peak"), "argmax");
  EXPECT_EQ(layers[1].at("maps").at("side"), 14);
  EXPECT_EQ(layers[1].at("maps").at("stride"), 8.0);
  EXPECT_EQ(layers[1].at("filter_categories").size(), 80U);
}

TEST_F(Onnx, AFileThatWouldBeTooLargeIsNamedAndNotWritten) {
  try {
    write_onnx(path_, network_of("tiny", Arm::ordinary), {}, 1000);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path_.string()), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("--hidden"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(Onnx, AResponseNormOverAnEvenNumberOfChannelsIsRefused) {
  const std::vector<Layer> layers{{"a", ResponseNorm{2}}};
  const Network network({"even", 4, layers, {}}, 1, {}, 1);
  EXPECT_THROW(write_onnx(path_, network, {}), std::logic_error);
}

}  // namespace
}  // namespace partwise::networks
