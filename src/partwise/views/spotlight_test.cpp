#include "partwise/views/spotlight.h"

#include <gtest/gtest.h>

namespace partwise::views {
namespace {

TEST(Spotlight, LeavesWhatReachesTheLevelAndDimsTheRest) {
  auto picture = images::Image::blank(2, 1);
  picture.pixels = {200, 100, 0, 200, 100, 0};
  const std::vector<float> strength{0.5F, 0.4F};
  const auto lit = spotlit(picture, strength, 0.5F);
  EXPECT_EQ(std::vector<uint8_t>(lit.pixels.begin(), lit.pixels.begin() + 3),
            (std::vector<uint8_t>{200, 100, 0}));
  EXPECT_LT(lit.pixels[3], 100);
  EXPECT_LT(lit.pixels[3] - lit.pixels[5], 100);  // less colour
}

TEST(Spotlight, LightsNothingWithoutStrength) {
  auto picture = images::Image::blank(1, 1);
  picture.pixels = {200, 200, 200};
  EXPECT_EQ(spotlit(picture, std::vector<float>{0.0F}, 0.0F).pixels[0], 84);
}

}  // namespace
}  // namespace partwise::views
