#include "partwise/networks/layers.h"

#include "partwise/base/error.h"
#include "partwise/networks/network.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace partwise::networks {
namespace {

TEST(Geometry, FollowsTheRecursionByHand) {
  const std::vector<Layer> layers{{"a", Convolution{3, 8, 7, 2, 0}}, {"b", MaxPool{3, 2}}};
  const auto geometry = layer_geometry(layers, 224);
  EXPECT_EQ(geometry[0].side, 109);  // VGG-M's conv1
  EXPECT_EQ(geometry[0].offset, 3.0);
  EXPECT_EQ(geometry[0].receptive_field, 7.0);
  EXPECT_EQ(geometry[1].side, 54);
  EXPECT_EQ(geometry[1].offset, 5.0);
  EXPECT_EQ(geometry[1].stride, 4.0);
  EXPECT_EQ(geometry[1].receptive_field, 11.0);
}

TEST(Geometry, RefusesLayersThatDoNotFit) {
  EXPECT_THROW(layer_geometry({{"a", Convolution{4, 8, 3, 1, 1}}}, 8), std::logic_error);
  EXPECT_THROW(layer_geometry({{"a", MaxPool{9, 1}}}, 8), std::logic_error);
}

// Test 9's table: n, unit centres and theoretical receptive fields of the paper's nets.
TEST(Geometry, OfThePapersNetsIsAsInItsTable) {
  struct Row {
    std::string net;
    int64_t side;
    double first_centre;  // 1-based, as MATLAB counts
    double stride;
    double receptive_field;
    int64_t grid;  // behind the last pooling
    int64_t filters;
  };
  for (const auto& row : std::vector<Row>{{"alexnet", 13, 18.0, 16.0, 195.0, 6, 256},
                                          {"vgg-m", 13, 18.0, 16.0, 171.0, 6, 512},
                                          {"vgg-s", 17, 21.0, 12.0, 137.0, 6, 512},
                                          {"vgg-16", 14, 8.5, 16.0, 228.0, 7, 512}}) {
    const auto net = build_architecture(row.net, Arm::interpretable, 2);
    const auto geometry = layer_geometry(net.layers, net.input_side);
    const auto& top = geometry[static_cast<std::size_t>(net.taps[0].relu)];
    const auto& fresh = geometry[static_cast<std::size_t>(net.taps[1].relu)];
    EXPECT_EQ(top.side, row.side) << row.net;
    EXPECT_EQ(fresh.side, row.side) << row.net;
    EXPECT_EQ(fresh.offset + 1.0, row.first_centre) << row.net;
    EXPECT_EQ(fresh.stride, row.stride) << row.net;
    EXPECT_EQ(fresh.receptive_field, row.receptive_field) << row.net;
    EXPECT_EQ(fresh.channels, row.filters) << row.net;
    const auto& pooled = geometry[static_cast<std::size_t>(net.taps[1].interpretable) + 1];
    EXPECT_EQ(pooled.side, row.grid) << row.net;
  }
}

// The same layers with at most `most` channels: geometry does not depend on their number.
std::vector<Layer> thinned(const std::vector<Layer>& layers, int64_t input_side, int64_t most) {
  std::vector<Layer> thin;
  const auto inputs = layer_inputs(layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    auto layer = layers[i];
    const auto from = inputs[i].front();
    const auto channels =
        from < 0 ? 3 : layer_geometry(thin, input_side)[static_cast<std::size_t>(from)].channels;
    if (auto* convolution = std::get_if<Convolution>(&layer.operation)) {
      convolution->in = channels;
      convolution->out = std::min(most, convolution->out);
    }
    if (auto* norm = std::get_if<BatchNorm>(&layer.operation)) norm->channels = channels;
    thin.push_back(layer);
  }
  return thin;
}

class Nets : public testing::TestWithParam<std::string> {};

// The input pixels a unit's value depends on, found by its gradient, are centred where the
// recursion says (test 9).
TEST_P(Nets, UnitCentresAreWhereInputGradientsAre) {
  torch::manual_seed(1);
  auto full = build_architecture(GetParam(), Arm::ordinary_layer, 3);
  full.layers.resize(static_cast<std::size_t>(full.taps.back().relu) + 1);
  full.layers = thinned(full.layers, full.input_side, 4);
  const auto side = full.input_side;
  Network network(full, 3, {}, 1);
  for (auto& [name, parameter] : network.parameters()) {  // every path open, none that explodes
    parameter.data().abs_();
    if (parameter.dim() == 4) parameter.data().div_(parameter.numel() / parameter.size(0));
  }
  for (std::size_t t = 0; t < full.taps.size(); ++t) {
    const auto& geometry = network.geometry()[static_cast<std::size_t>(full.taps[t].relu)];
    const auto middle = geometry.side / 2;
    auto support = torch::zeros({side, side}, torch::kFloat64);
    // pooling opens one path per image; their union is the field
    for (int draw = 0; draw < 6; ++draw) {
      auto images = torch::rand({8, 3, side, side}).requires_grad_();
      network.evaluate(images).taps[t].maps.select(2, middle).select(2, middle).sum().backward();
      support += images.grad().abs().amax({0, 1}).to(torch::kFloat64);
    }
    const auto pixels = (support > 0).nonzero().to(torch::kFloat64);
    for (int64_t axis = 0; axis < 2; ++axis) {
      const double low = pixels.select(1, axis).min().item<double>();
      const double high = pixels.select(1, axis).max().item<double>();
      const double centre = geometry.offset + geometry.stride * static_cast<double>(middle);
      const double reach = (geometry.receptive_field - 1.0) / 2.0;
      // the image ends before a large field does
      EXPECT_NEAR(low, std::max(0.0, centre - reach), 3.0) << full.taps[t].name;
      EXPECT_NEAR(high, std::min(static_cast<double>(side) - 1.0, centre + reach), 3.0)
          << full.taps[t].name;
    }
  }
}

TEST_P(Nets, RunInEveryArmWithMasksWhereTheyBelong) {
  const bool mixed = find_backbone(GetParam()).mixed;
  const torch::NoGradGuard no_grad;
  for (const auto arm : values_of<Arm>()) {
    const auto name = word_of(arm);
    Network network(build_architecture(GetParam(), arm, 4, {}, {.hidden = 16}), 4, {}, 3);
    const auto side = network.architecture().input_side;
    const auto output = network.evaluate(torch::rand({1, 3, side, side}));
    EXPECT_EQ(output.logits.sizes(), (std::vector<int64_t>{1, 4}));
    ASSERT_EQ(output.taps.size(), arm == Arm::ordinary ? 1U : 2U);
    const bool masked = arm == Arm::masked || arm == Arm::interpretable;
    const auto changed = [&](std::size_t tap) {
      return !torch::equal(output.taps[tap].maps, output.taps[tap].masked);
    };
    EXPECT_EQ(changed(0), masked && !mixed) << name;
    EXPECT_EQ(changed(output.taps.size() - 1), masked) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryNet, Nets, testing::ValuesIn(network_names()), [](const auto& net) {
  auto name = net.param;
  std::erase_if(name, [](char letter) { return letter == '-'; });
  return name;
});

Tensor one_layer(const Layer& layer, const Tensor& input) {
  Architecture single{"single", input.size(2), {layer}, {{"tap", "", 0}}};
  return Network(single, 1, {}, 1).evaluate(input).taps[0].maps;
}

// Test 10: layers against explicit sums.
TEST(Layers, ResponseNormIsTheSumOverNeighbouringChannels) {
  torch::manual_seed(3);
  const auto x = torch::rand({2, 3, 4, 4}) * 50.0;  // images have three channels: size 2 and 3
  for (const ResponseNorm norm :
       {ResponseNorm{3, 1e-2, 0.75, 1.0}, ResponseNorm{2, 5e-2, 0.5, 2.0}}) {
    const auto y = one_layer({"norm", norm}, x);
    for (int64_t c = 0; c < 3; ++c) {
      auto sum = torch::zeros_like(x.select(1, 0));
      for (int64_t other = c - norm.size / 2; other < c - norm.size / 2 + norm.size; ++other) {
        if (other >= 0 && other < 3) sum += x.select(1, other).square();
      }
      const auto expected =
          x.select(1, c) *
          (norm.k + norm.alpha / static_cast<double>(norm.size) * sum).pow(-norm.beta);
      EXPECT_LT((y.select(1, c) - expected).abs().max().item<double>(), 1e-5) << c;
    }
  }
}

TEST(Layers, PaddingAtTheEndAddsCellsAtTheBottomAndRightOnly) {
  const auto x = -torch::rand({1, 3, 6, 6}) - 1.0;  // a border of zeros would win
  const auto y = one_layer({"pool", MaxPool{3, 2, 0, 1}}, x);
  ASSERT_EQ(y.size(2), 3);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      const auto window = x[0][1]
                              .slice(0, 2 * i, std::min<int64_t>(6, 2 * i + 3))
                              .slice(1, 2 * j, std::min<int64_t>(6, 2 * j + 3));
      EXPECT_EQ(y[0][1][i][j].item<float>(), window.max().item<float>()) << i << j;
    }
  }
}

TEST(Layers, AGroupSeesOnlyItsOwnChannels) {
  torch::manual_seed(4);
  const std::vector<Layer> layers{{"first", Convolution{3, 4, 1, 1, 0}},
                                  {"second", Convolution{4, 6, 3, 1, 1, 2}}};
  Network network({"two", 5, layers, {{"first", "", 0}, {"second", "", 1}}}, 1, {}, 1);
  const auto output = network.evaluate(torch::rand({1, 3, 5, 5}));
  const auto& weight = network.parameters().at("second.weight");
  ASSERT_EQ(weight.sizes(), (std::vector<int64_t>{6, 2, 3, 3}));
  for (int64_t f = 0; f < 6; ++f) {
    const int64_t first = f < 3 ? 0 : 2;
    const auto window =
        output.taps[0].maps[0].slice(0, first, first + 2).slice(1, 1, 4).slice(2, 1, 4);
    EXPECT_NEAR(output.taps[1].maps[0][f][2][2].item<float>(),
                (window * weight[f]).sum().item<float>(), 1e-5);
  }
}

TEST(Layers, BranchesJoinByNameAndMustLieOnOneGrid) {
  const std::vector<Layer> layers{{"a", Convolution{3, 2, 3, 1, 1}},
                                  {"b", Convolution{2, 4, 1, 1, 0}},
                                  {"c", Convolution{2, 4, 5, 1, 2}, {"a"}},
                                  {"both", Concatenate{}, {"b", "c"}},
                                  {"sum", Add{}, {"b", "c"}}};
  const auto geometry = layer_geometry(layers, 8);
  EXPECT_EQ(geometry[3].channels, 8);
  EXPECT_EQ(geometry[4].channels, 4);
  EXPECT_EQ(geometry[3].receptive_field, 7.0);  // 3x3, then the wider branch
  auto uneven = layers;
  std::get<Convolution>(uneven[2].operation).stride = 2;
  EXPECT_THROW(layer_geometry(uneven, 8), std::logic_error);
  EXPECT_THROW(layer_inputs({{"a", Relu{}, {"later"}}}), std::logic_error);
}

TEST(Catalog, AnUnknownNetListsTheValidOnes) {
  try {
    build_architecture("tinny", Arm::ordinary, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tiny"), std::string::npos);
  }
}

TEST(Catalog, TheHeadsDropoutIsTheNetsOwnUnlessAsked) {
  const auto drops = [](const HeadOptions& head) {
    std::vector<double> found;
    for (const auto& layer : build_architecture("vgg-m", Arm::masked, 2, {}, head).layers) {
      if (const auto* dropout = std::get_if<Dropout>(&layer.operation))
        found.push_back(dropout->drop);
    }
    return found;
  };
  EXPECT_EQ(drops({}), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(drops({.dropout = 0.8}), (std::vector<double>{0.8, 0.8}));
  EXPECT_EQ(drops({.dropout = 0.0}), (std::vector<double>{0.0, 0.0}));
}

TEST(NetworkState, ComesBackFromItsOwnTensorsAndRefusesOthers) {
  Network one(build_architecture("tiny", Arm::interpretable, 2), 2, {}, 1);
  Network two(build_architecture("tiny", Arm::interpretable, 2), 2, {}, 2);
  const auto images = torch::rand({1, 3, 112, 112});
  EXPECT_FALSE(torch::equal(one.evaluate(images).logits, two.evaluate(images).logits));
  two.load_state(one.state());
  EXPECT_TRUE(torch::equal(one.evaluate(images).logits, two.evaluate(images).logits));
  auto damaged = one.state();
  damaged.erase("conv2.weight");
  EXPECT_THROW(two.load_state(damaged), Error);
}

}  // namespace
}  // namespace partwise::networks
