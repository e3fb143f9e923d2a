#include "partwise/measure.h"

#include "partwise/base/files.h"
#include "partwise/formats/safetensors.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::measure {
namespace {

// Two filters on 16 x 16 cells of stride 2: filter 0 fires where the part is, filter 1 everywhere.
struct Scene {
  Tensor maps = torch::zeros({12, 2, 16, 16});
  Tensor parts = torch::zeros({12, 1, 32, 32}, torch::kBool);
  Tensor labels = torch::zeros({12}, torch::kInt64);
  Grid grid{1.0, 2.0, 32};
};

Scene scene() {
  torch::manual_seed(1);
  Scene made;
  for (int64_t row = 0; row < 12; ++row) {
    const int64_t i = 2 + 2 * (row % 6);
    const int64_t j = 2 + 2 * ((5 * row) % 6);
    made.maps[row][0][i][j] = 1.0;
    made.parts[row][0].slice(0, 2 * i - 2, 2 * i + 5).slice(1, 2 * j - 2, 2 * j + 5).fill_(true);
  }
  made.maps.select(1, 1).copy_(torch::rand({12, 16, 16}) * 0.1);
  return made;
}

TEST(Measure, PurityIsOneForMapsOfOneCellAndLowForEvenOnes) {
  const auto maps = scene().maps;
  EXPECT_DOUBLE_EQ(purity(maps.slice(1, 0, 1)).value, 1.0);
  const auto noise = purity(maps.slice(1, 1, 2).to(torch::kFloat64));
  EXPECT_LT(noise.value, 0.3);
  EXPECT_LE(noise.low, noise.value);
  EXPECT_TRUE(noise.controls.contains("scattered"));
}

TEST(Measure, CategoriesAreThoseWithTheStrongestActivation) {
  auto maps = torch::zeros({3, 2, 2, 2});
  maps[0][1].fill_(1.0);
  maps[1][0].fill_(1.0);
  maps[2].fill_(9.0);  // of no category
  const auto labels = torch::tensor({0, 1, -1}, torch::kInt64);
  EXPECT_TRUE(torch::equal(filter_categories(maps, labels, 2), torch::tensor({1, 0})));
}

TEST(Measure, PartInterpretabilityTellsTheFilterThatFiresAtThePart) {
  const auto [maps, parts, labels, grid] = scene();
  const auto found =
      part_interpretability(maps, grid, parts, labels, torch::zeros({2}, torch::kInt64));
  EXPECT_DOUBLE_EQ(found.filters[0].item<double>(), 1.0);
  EXPECT_LT(found.filters[1].item<double>(), 0.7);
  EXPECT_EQ(found.best_part[0].item<int64_t>(), 0);
  EXPECT_TRUE(found.finding.controls.contains("shuffled_images"));
}

TEST(Measure, WhatDoesNotFitIsNamed) {
  const auto [maps, parts, labels, grid] = scene();
  const auto complaint = [&](const auto& act) -> std::string {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(
      complaint([&] { purity(maps.flatten(2)); }),
      "maps is Float of shape [12, 2, 256]; expected Float of shape [-1, -1, -1, -1] (-1: any)");
  EXPECT_EQ(complaint([&] { filter_categories(maps, labels + 3, 2); }),
            "labels: 3 is outside -1 to 1");
  EXPECT_EQ(complaint([&] { filter_categories(maps, labels.to(torch::kFloat32), 2); }),
            "labels is Float of shape [12]; expected Long of shape [12] (-1: any)");
  Dump dump;
  dump.maps = -maps;
  dump.annotation = labels;
  EXPECT_NE(complaint([&] { write_dump("x.safetensors", dump); }).find("not negative"),
            std::string::npos);
}

TEST(Measure, DumpsHoldWhatTheRefereeReads) {
  const auto path = std::filesystem::path(testing::TempDir()) / "measure.safetensors";
  const auto [maps, parts, labels, grid] = scene();
  Dump dump;
  dump.maps = maps;
  dump.annotation = labels;
  dump.masked = maps.slice(2, 0, 8).slice(3, 0, 8);
  dump.masked_grid = Grid{2.0, 4.0, 32};
  dump.grid = grid;
  dump.layer = "conv";
  write_dump(path, dump);
  const auto file = formats::parse_safetensors(map_file(path));
  const auto written = maps.contiguous();
  EXPECT_EQ(file.arrays.at("maps").bytes,
            std::string_view(static_cast<const char*>(written.data_ptr()), written.nbytes()));
  EXPECT_EQ(file.arrays.at("masked").shape.at(3), 8);
  EXPECT_FALSE(file.arrays.contains("category"));
  EXPECT_EQ(file.metadata.at("unit_stride"), "2");
  EXPECT_EQ(file.metadata.at("masked_unit_offset"), "2");
  EXPECT_EQ(file.metadata.at("input_side"), "32");
  EXPECT_EQ(file.metadata.at("layer"), "conv");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace partwise::measure
