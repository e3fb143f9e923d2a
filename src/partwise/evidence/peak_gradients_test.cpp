#include "partwise/evidence/peak_gradients.h"

#include "partwise/evidence/receptive_field.h"
#include "partwise/models/activations.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace partwise::evidence {
namespace {

networks::Network untrained() {
  return {networks::build_architecture("tiny", networks::Arm::ordinary_layer, 2, {}, {.hidden = 8}),
          2,
          {},
          7};
}

// The square that the unit of a cell can see, in pixels.
bool sees(const networks::Network& network,
          std::size_t tap,
          int64_t cell,
          int64_t maps_side,
          int64_t x,
          int64_t y) {
  const auto& at = network.architecture().taps[tap];
  const auto& geometry = network.geometry()[static_cast<std::size_t>(at.relu)];
  const auto centre =
      models::tapped_layers(network)[tap].grid.centre(cell / maps_side, cell % maps_side);
  const double half = geometry.receptive_field / 2.0;
  return std::abs(static_cast<double>(x) - centre.x) <= half &&
         std::abs(static_cast<double>(y) - centre.y) <= half;
}

TEST(PeakGradients, ComeFromPixelsTheUnitCanSeeAndFromNoOther) {
  torch::manual_seed(2);
  const auto network = untrained();
  const auto images = torch::randn({2, 3, 112, 112});
  for (std::size_t tap = 0; tap < 2; ++tap) {
    const PeakGradients peaks(network, images, tap);
    const std::vector<int64_t> filters{5, 9};
    const auto energy = peaks.energy_of(filters);
    const int64_t side = peaks.output().taps[tap].maps.size(2);
    for (int64_t row = 0; row < 2; ++row) {
      const int64_t cell =
          peaks.cells()[row][filters[static_cast<std::size_t>(row)]].item<int64_t>();
      double inside = 0.0;
      for (int64_t y = 0; y < 112; ++y) {
        for (int64_t x = 0; x < 112; ++x) {
          const double value = energy[row][y][x].item<double>();
          const bool seen = sees(network, tap, cell, side, x, y);
          if (seen) inside += value;
          ASSERT_TRUE(seen || value == 0.0) << tap << ": " << x << "," << y;
        }
      }
      EXPECT_GT(inside, 0.0);
    }
  }
}

TEST(PeakGradients, AreTheSlopeOfThePeak) {
  torch::manual_seed(3);
  auto network = untrained();
  network.to_type(torch::kFloat64);
  const auto image = torch::randn({1, 3, 112, 112}, torch::kFloat64);
  const PeakGradients peaks(network, image, 1);
  const std::vector<int64_t> filter{4};
  const auto energy = peaks.energy_of(filter)[0];
  const auto strongest = energy.flatten().argmax().item<int64_t>();
  const int64_t y = strongest / 112;
  const int64_t x = strongest % 112;
  const torch::NoGradGuard no_grad;
  const double step = 1e-6;
  double sum = 0.0;
  for (int64_t colour = 0; colour < 3; ++colour) {
    const auto value = [&](double by) {
      auto moved = image.clone();
      moved[0][colour][y][x] += by;
      const auto maps = network.evaluate(moved).taps[1].maps;
      return maps.flatten(2)[0][4][peaks.cells()[0][4].item<int64_t>()].item<double>();
    };
    sum += std::pow((value(step) - value(-step)) / (2.0 * step), 2.0);
  }
  // The energy is kept in single precision.
  EXPECT_NEAR(energy[y][x].item<double>(), sum, 1e-5 * sum);
}

TEST(PeakGradients, OfAFilterThatDoesNotFireAreNone) {
  auto network = untrained();
  {
    const torch::NoGradGuard no_grad;
    network.parameters().at("new.bias").fill_(-1e6);
  }
  const PeakGradients peaks(network, torch::randn({1, 3, 112, 112}), 1);
  const std::vector<int64_t> filter{0};
  const auto energy = peaks.energy_of(filter)[0];
  EXPECT_EQ(energy.abs().max().item<double>(), 0.0);
  EXPECT_FALSE(centroid(energy).has_value());
}

// The short way back of one filter per row against the long one of weights.
TEST(PeakGradients, OfOneFilterAreThoseOfItsWeight) {
  torch::manual_seed(6);
  for (const auto* net : {"tiny", "squeezenet1-1"}) {
    const networks::Network network{
        networks::build_architecture(net, networks::Arm::interpretable, 2, {}, {.hidden = 8}),
        2,
        {},
        7};
    const auto side = network.architecture().input_side;
    for (std::size_t tap = 0; tap < 2; ++tap) {
      const PeakGradients peaks(network, torch::randn({3, 3, side, side}), tap);
      const std::vector<int64_t> filters{5, -1, 30};
      auto weights = torch::zeros({3, peaks.peaks().size(1)});
      weights[0][5] = 1.0;
      weights[2][30] = 1.0;
      const auto wanted = peaks.energy(weights);
      EXPECT_GT(wanted.max().item<double>(), 0.0);
      // Sums of the same products, without the zeros.
      EXPECT_LE((peaks.energy_of(filters) - wanted).abs().max().item<double>(),
                1e-5 * wanted.max().item<double>());
    }
  }
}

TEST(PeakGradients, OfAnyNumberOfPairsAreThoseOfEach) {
  torch::manual_seed(4);
  const auto network = untrained();
  models::Examples examples;
  examples.pixels = torch::randint(0, 256, {3, 3, 112, 112}, torch::kUInt8);
  std::vector<FilterOnRow> pairs;
  for (int64_t i = 0; i < 40; ++i) pairs.push_back({i % 7, i % 3});
  pairs.push_back({8, 1});  // one row has more than the others
  const PeakGradients alone(network, models::normalised(examples.pixels), 1);
  std::vector<int> visited(pairs.size());
  for_each_energy(network, 1, examples, pairs, "cpu",
                  [&](std::size_t i, const Tensor& energy, const Tensor& map) {
                    ++visited[i];
                    const auto [filter, row] = pairs[i];
                    const auto expected = alone.energy_of(std::vector<int64_t>(3, filter))[row];
                    // Kernels of another batch size round otherwise.
                    EXPECT_TRUE(torch::allclose(energy, expected, 1e-3, 1e-8));
                    EXPECT_NEAR(map.max().item<double>(), alone.peaks()[row][filter].item<double>(),
                                1e-5);
                  });
  EXPECT_EQ(visited, std::vector<int>(pairs.size(), 1));
}

TEST(Centroid, IsTheCentreOfMass) {
  auto energy = torch::zeros({10, 10});
  energy[2][3] = 1.0;
  energy[4][9] = 1.0;
  const auto place = centroid(energy);
  ASSERT_TRUE(place.has_value());
  EXPECT_DOUBLE_EQ(place->x, 6.0);
  EXPECT_DOUBLE_EQ(place->y, 3.0);
}

TEST(ReceptiveFields, StayWithinWhatTheUnitCanSeeAndAWholePatch) {
  torch::manual_seed(5);
  const auto network = untrained();
  models::Examples examples;
  examples.pixels = torch::randint(0, 256, {2, 3, 112, 112}, torch::kUInt8);
  examples.category = torch::zeros({2}, torch::kInt64);
  const std::vector<std::vector<int64_t>> rows{{0}, {1, 0}, {}};
  FieldOptions coarse;
  coarse.step = 1.0 / 14.0;
  const auto fields = receptive_fields(network, 0, examples, rows, coarse, "cpu");
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[1].images, 2);
  EXPECT_EQ(fields[2].images, 0);
  const auto& relu = network.architecture().taps[0].relu;
  const double half =
      network.geometry()[static_cast<std::size_t>(relu)].receptive_field / 2.0 + 11.0 + 8.0;
  double most = 0.0;
  for (int64_t i = 0; i < 2 * fields[0].reach + 1; ++i) {
    for (int64_t j = 0; j < 2 * fields[0].reach + 1; ++j) {
      const Point offset{fields[0].spacing * static_cast<double>(j - fields[0].reach),
                         fields[0].spacing * static_cast<double>(i - fields[0].reach)};
      const double strength = fields[0].at(offset);
      // Other kernels round otherwise.
      if (std::max(std::abs(offset.x), std::abs(offset.y)) > half) {
        EXPECT_NEAR(strength, 0.0, 1e-4);
      }
      most = std::max(most, strength);
    }
  }
  EXPECT_GT(most, 0.01);
  const auto laid = field_on_image(fields[0], {50.0, 60.0}, 112);
  EXPECT_FLOAT_EQ(laid[60 * 112 + 50], static_cast<float>(fields[0].at({0.0, 0.0})));
}

TEST(StrongestPixels, HoldTheShareAskedFor) {
  std::vector<float> strength(100, 0.0F);
  strength[34] = 6.0F;
  strength[35] = 3.0F;
  strength[36] = 1.0F;
  EXPECT_EQ(strongest_pixels(strength, 10, 0.5).area(), 1);
  EXPECT_EQ(strongest_pixels(strength, 10, 0.8).area(), 2);
  EXPECT_TRUE(strongest_pixels(strength, 10, 0.8).contains(5, 3));
  EXPECT_EQ(strongest_pixels(std::vector<float>(100, 0.0F), 10, 0.5).area(), 0);
  EXPECT_FLOAT_EQ(level_holding(strength, 0.9), 3.0F);
}

TEST(Smoothed, KeepsTheSumAndSpreadsIt) {
  std::vector<float> strength(41 * 41, 0.0F);
  strength[20 * 41 + 20] = 1.0F;
  const auto smooth = smoothed(strength, 41, 3.0);
  EXPECT_NEAR(std::accumulate(smooth.begin(), smooth.end(), 0.0), 1.0, 1e-5);
  EXPECT_LT(smooth[20 * 41 + 20], 0.05F);
  EXPECT_FLOAT_EQ(smooth[20 * 41 + 23], smooth[23 * 41 + 20]);
  EXPECT_EQ(smoothed(strength, 41, 0.0), strength);
}

}  // namespace
}  // namespace partwise::evidence
