#include "partwise/datasets/drawing.h"

#include <gtest/gtest.h>

#include <set>

namespace partwise::datasets {
namespace {

std::array<int, 3> colour_at(const images::Image& image, int64_t x, int64_t y) {
  const auto* pixel = image.at(x, y);
  return {pixel[0], pixel[1], pixel[2]};
}

TEST(Drawing, MarksLieWhereTheTruthDoesAtAnySize) {
  const Category fox{1, "fox", {"head"}, {"head", "eye"}};
  Annotation object;
  object.bbox = {10.0, 5.0, 80.0, 40.0};
  object.parts["head"] = {Box{20.0, 10.0, 10.0, 10.0}, std::nullopt};
  object.landmarks["eye"] = {{70.0, 25.0}};
  const auto head = mark_colour(fox, "head").rgb;
  const auto eye = mark_colour(fox, "eye").rgb;
  for (const int64_t factor : {1, 2, 3}) {
    const auto picture = draw_truth(images::Image::blank(100, 50, 90), object, fox, 100 * factor);
    EXPECT_EQ(picture.width, 100 * factor);
    EXPECT_EQ(picture.height, 50 * factor);
    EXPECT_EQ(colour_at(picture, 10 * factor, 20 * factor), (std::array{255, 255, 255}));
    EXPECT_EQ(colour_at(picture, 20 * factor, 15 * factor),
              (std::array<int, 3>{head[0], head[1], head[2]}));
    EXPECT_EQ(colour_at(picture, 70 * factor, 25 * factor),
              (std::array<int, 3>{eye[0], eye[1], eye[2]}));
    EXPECT_EQ(colour_at(picture, 50 * factor, 30 * factor), (std::array{90, 90, 90}));
  }
}

TEST(Drawing, FifteenLandmarksHaveFifteenColours) {
  Category bird{1, "bird", {}, {}};
  std::set<std::string> colours;
  for (int i = 0; i < 15; ++i) bird.landmarks.push_back(std::to_string(i));
  for (const auto& name : bird.landmarks) colours.insert(mark_colour(bird, name).name);
  EXPECT_EQ(colours.size(), 15U);
}

TEST(Drawing, MasksAreTinted) {
  const Category fox{1, "fox", {"head"}, {}};
  Annotation object;
  object.bbox = {0.0, 0.0, 4.0, 4.0};
  std::vector<uint8_t> pixels(16, 0);
  pixels[5] = 1;
  object.parts["head"] = {std::nullopt, encode_mask(pixels, 4, 4)};
  const auto picture = draw_truth(images::Image::blank(4, 4, 100), object, fox, 4);
  EXPECT_NE(colour_at(picture, 1, 1), (std::array{100, 100, 100}));
  EXPECT_EQ(colour_at(picture, 2, 2), (std::array{100, 100, 100}));
}

TEST(Drawing, TruthOutsideThePhotographIsCutOff) {
  const Category fox{1, "fox", {}, {"eye"}};
  Annotation object;
  object.bbox = {-50.0, -50.0, 300.0, 300.0};
  object.landmarks["eye"] = {{-1.0, 300.0}};
  EXPECT_EQ(draw_truth(images::Image::blank(20, 10), object, fox, 20).width, 20);
}

}  // namespace
}  // namespace partwise::datasets
