#include "partwise/base/removal.h"
#include "partwise/datasets/crops.h"
#include "partwise/datasets/import/import.h"
#include "partwise/formats/matlab.h"
#include "partwise/models/examples.h"
#include "partwise/networks/pretrained.h"
#include "partwise/networks/tensor_file.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

namespace partwise::networks {
namespace {

namespace fs = std::filesystem;

fs::path weights_folder() {
  const char* data = std::getenv("PARTWISE_REAL_DATA");
  return data == nullptr ? fs::path() : fs::path(data).parent_path() / "weights";
}

#define SKIP_WITHOUT_WEIGHTS() \
  if (!fs::exists(weights_folder())) GTEST_SKIP() << "no folder of real weights"

TEST(RealNetworks, LoadTheWeightsMadeForThem) {
  SKIP_WITHOUT_WEIGHTS();
  for (const auto& [net, file] :
       std::map<std::string, std::string>{{"alexnet", "alexnet"},
                                          {"vgg-m", "vgg_m"},
                                          {"vgg-s", "vgg_s"},
                                          {"vgg-16", "vgg16"},
                                          {"squeezenet1-1", "squeezenet1_1"}}) {
    Network network(build_architecture(net, Arm::interpretable, 2, {}, {.hidden = 8}), 2, {}, 1);
    network.load_backbone(read_pretrained(net, weights_folder() / (file + ".safetensors")).state);
    const torch::NoGradGuard no_grad;
    const auto side = network.architecture().input_side;
    const auto maps = network.evaluate(torch::randn({1, 3, side, side})).taps[0].maps;
    EXPECT_TRUE(maps.isfinite().all().item<bool>()) << net;
    EXPECT_GT(maps.max().item<double>(), 0.0) << net;
  }
}

// SqueezeNet 1.1 as it was trained: its trunk, a 1x1 convolution to 1000 classes, the mean over
// cells.
Network squeezenet_with_its_classifier() {
  Architecture whole{"squeezenet1-1", 224, squeezenet1_1().layers, {}};
  whole.taps.push_back({"features.12", "", static_cast<int64_t>(whole.layers.size()) - 1});
  whole.layers.push_back({"classifier.1", Convolution{512, 1000, 1, 1, 0}});
  whole.layers.push_back({"classifier.2", Relu{}});
  whole.layers.push_back({"classifier.3", GlobalAverage{}});
  Network network(whole, 1000, {}, 1);
  const auto path = weights_folder() / "squeezenet1_1.safetensors";
  network.load_state(networks::load_tensors(path).tensors);
  return network;
}

// The photographs of an Animal-Part category whose five likeliest ImageNet classes hold one of
// `classes`, against five classes drawn at random.
TEST(RealNetworks, SqueezenetNamesTheAnimals) {
  SKIP_WITHOUT_WEIGHTS();
  if (!formats::matlab73_supported()) GTEST_SKIP() << "built without HDF5";
  const auto folder = fs::path(testing::TempDir()) / "partwise-real-names";
  remove_folder(folder);
  datasets::ImportRequest request;
  request.format = "animal-part";
  request.source = fs::path(std::getenv("PARTWISE_REAL_DATA")) / "animal-part";
  request.out = folder;
  const auto dataset = datasets::import_dataset(request).dataset;
  const auto network = squeezenet_with_its_classifier();
  const std::map<std::string, std::set<int64_t>> classes{
      {"fox", {277, 278, 279, 280}},       // red, kit, Arctic, grey
      {"cat", {281, 282, 283, 284, 285}},  // tabby, tiger, Persian, Siamese, Egyptian
      {"squirrel", {335}},                 // fox squirrel
      {"sheep", {348, 349}},               // ram, bighorn
      {"cattle", {345, 346, 347}}};        // ox, water buffalo, bison
  const auto samples = datasets::samples_of_split(dataset, "test", false);
  const torch::NoGradGuard no_grad;
  for (const auto& category : dataset.categories) {
    std::vector<datasets::Sample> own;
    for (const auto& sample : samples) {
      const auto& object = dataset.annotations[static_cast<std::size_t>(sample.annotation_index)];
      if (object.category_id == category.id && own.size() < 40) own.push_back(sample);
    }
    ASSERT_FALSE(own.empty()) << category.name;
    const auto crops = datasets::load_crops(dataset, own, {224, 0});
    const auto pixels = torch::from_blob(const_cast<uint8_t*>(crops.pixels.data()),
                                         {crops.rows, 3, 224, 224}, torch::kUInt8);
    const auto top = std::get<1>(network.evaluate(models::normalised(pixels)).logits.topk(5, 1));
    int64_t named = 0;
    for (int64_t row = 0; row < crops.rows; ++row) {
      bool any = false;
      for (int64_t k = 0; k < 5; ++k) {
        any = any || classes.at(category.name).contains(top[row][k].item<int64_t>());
      }
      named += any ? 1 : 0;
    }
    const double share = static_cast<double>(named) / static_cast<double>(crops.rows);
    RecordProperty(category.name, std::to_string(share));
    std::cout << category.name << ": " << named << " of " << crops.rows << '\n';
    EXPECT_GT(share, 0.5) << category.name;  // five random classes: at most 0.025
  }
  remove_folder(folder);
}

}  // namespace
}  // namespace partwise::networks
