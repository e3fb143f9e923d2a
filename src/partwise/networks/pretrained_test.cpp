#include "partwise/networks/pretrained.h"

#include "partwise/base/error.h"
#include "partwise/formats/convert.h"
#include "partwise/formats/safetensors.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace partwise::networks {
namespace {

namespace fs = std::filesystem;

class PretrainedWeights : public testing::Test {
 protected:
  fs::path path_ = fs::path(testing::TempDir()) / "partwise-pretrained.safetensors";
  ~PretrainedWeights() override { fs::remove(path_); }

  void write(const std::map<std::string, Tensor>& state, bool half = false) const {
    formats::NamedArrays file;
    for (const auto& [name, tensor] : state) {
      const auto plain = tensor.detach().contiguous();
      const auto size = static_cast<std::size_t>(plain.numel()) * sizeof(float);
      file.arrays[name] =
          formats::make_array(formats::Dtype::f32, plain.sizes().vec(),
                              std::string(static_cast<const char*>(plain.data_ptr()), size));
    }
    if (half) formats::convert_floats(file, formats::Dtype::f16, "test");
    formats::write_safetensors(path_, file);
  }
};

Network ordinary(const std::string& net, uint64_t seed) {
  return {build_architecture(net, Arm::ordinary, 2, {}, {.hidden = 8}), 2, {}, seed};
}

Tensor top_maps(const Network& network, const Tensor& images) {
  const torch::NoGradGuard no_grad;
  return network.evaluate(images).taps[0].maps;
}

TEST_F(PretrainedWeights, OfTheirOwnNamesGiveTheSameMaps) {
  for (const char* net : {"tiny", "squeezenet1-1", "resnet-18"}) {
    const auto one = ordinary(net, 1);
    auto two = ordinary(net, 2);
    write(one.state());
    two.load_backbone(read_pretrained(net, path_).state);
    const auto side = one.architecture().input_side;
    const auto images = torch::rand({1, 3, side, side});
    EXPECT_TRUE(torch::equal(top_maps(one, images), top_maps(two, images))) << net;
  }
}

TEST_F(PretrainedWeights, InHalfPrecisionAreWidened) {
  const auto one = ordinary("alexnet", 1);
  write(one.parameters(), /*half=*/true);
  const auto state = read_pretrained("alexnet", path_).state;
  const auto expected = one.parameters().at("conv1.weight").to(torch::kFloat16).to(torch::kFloat32);
  EXPECT_TRUE(torch::equal(state.at("conv1.weight"), expected));
}

// torchvision's VGG-16-BN: kept as it is, or folded into a plain VGG-16.
TEST_F(PretrainedWeights, WithBatchNormFoldIntoAPlainVgg) {
  torch::manual_seed(1);
  auto normed = ordinary("vgg-16-bn", 1);
  {
    const torch::NoGradGuard no_grad;  // statistics and gains that are not 0 and 1
    for (auto& [name, tensor] : normed.state()) {
      if (name.ends_with("running_mean")) tensor.uniform_(-0.2, 0.2);
      if (name.ends_with("running_var")) tensor.uniform_(0.5, 1.5);
      if (name.starts_with("features") && name.ends_with(".bias")) tensor.uniform_(-0.1, 0.1);
    }
  }
  write(normed.state());
  auto folded = ordinary("vgg-16", 2);
  const auto pretrained = read_pretrained("vgg-16", path_);
  EXPECT_NE(pretrained.summary.find("batch norm folded"), std::string::npos);
  folded.load_backbone(pretrained.state);
  const auto images = torch::rand({1, 3, 224, 224});
  const auto expected = top_maps(normed, images);
  const auto error = (top_maps(folded, images) - expected).abs().max() / expected.abs().max();
  EXPECT_LT(error.item<double>(), 1e-4);  // thirteen float32 layers
}

TEST_F(PretrainedWeights, TrainedOnOtherInputsSeeTheSameThroughTheFirstLayer) {
  torch::manual_seed(2);
  const auto reference = ordinary("alexnet", 1);
  write(reference.parameters());
  const auto pixels = torch::randint(0, 256, {1, 3, 227, 227}).to(torch::kFloat32);
  const auto row = [](double r, double g, double b) {
    return torch::tensor({r, g, b}, torch::kFloat32).view({1, 3, 1, 1});
  };
  const auto ours = (pixels / 255.0 - row(0.485, 0.456, 0.406)) / row(0.229, 0.224, 0.225);
  const auto theirs = pixels - row(123.68, 116.779, 103.939);
  for (const std::string convention : {"rgb255", "bgr255"}) {
    auto adapted = ordinary("alexnet", 3);
    adapted.load_backbone(read_pretrained("alexnet", path_, convention).state);
    const auto seen = convention == "rgb255" ? theirs : theirs.flip({1});
    const auto expected = top_maps(reference, seen);
    const auto error = (top_maps(adapted, ours) - expected).abs().max() / expected.abs().max();
    EXPECT_LT(error.item<double>(), 1e-4) << convention;
  }
}

TEST_F(PretrainedWeights, OfDataParallelAndDagnnAreFoundUnderTheirNames) {
  const auto one = ordinary("alexnet", 1);
  std::map<std::string, Tensor> other;
  for (const auto& [name, tensor] : one.parameters()) {
    auto given = name;
    if (name.ends_with(".weight")) given = name.substr(0, name.size() - 7) + "f";
    if (name.ends_with(".bias")) given = name.substr(0, name.size() - 5) + "b";
    other["module." + given] = tensor;
  }
  write(other);
  const auto state = read_pretrained("alexnet", path_).state;
  EXPECT_TRUE(torch::equal(state.at("conv5.weight"), one.parameters().at("conv5.weight")));
}

TEST_F(PretrainedWeights, OfAnotherNetAreRefusedWithAListOfWhatIsWrong) {
  write(ordinary("alexnet", 1).parameters());
  try {
    read_pretrained("vgg-m", path_);
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("vgg-m"), std::string::npos);
    EXPECT_NE(message.find("conv1.weight"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace partwise::networks
