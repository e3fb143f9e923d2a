#include "partwise/training/augmentation.h"

#include "partwise/base/random.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::training {
namespace {

constexpr int64_t kSide = 32;

// Smooth, so that a scaled image differs little from the formula; another picture in every row.
Tensor pictures() {
  auto pixels = torch::empty({6, 3, kSide, kSide}, torch::kUInt8);
  auto* value = pixels.data_ptr<uint8_t>();
  for (int64_t image = 0; image < 6; ++image) {
    for (int64_t plane = 0; plane < 3; ++plane) {
      for (int64_t y = 0; y < kSide; ++y) {
        for (int64_t x = 0; x < kSide; ++x)
          *value++ = static_cast<uint8_t>(20 * image + 4 * x + 2 * y + 10 * plane);
      }
    }
  }
  return pixels;
}

TrainOptions still() {
  TrainOptions options;
  options.jitter = 0;
  return options;
}

bool is_flip_or_same(const Tensor& made, const Tensor& original) {
  return torch::equal(made, original) || torch::equal(made, original.flip({2}));
}

TEST(Augmentation, FlipsAndShiftsWithoutInventingColours) {
  const auto pixels = pictures();
  TrainOptions options;
  options.jitter = 3;
  const auto once = augmented(pixels, options, 7);
  EXPECT_TRUE(torch::equal(once, augmented(pixels, options, 7)));
  EXPECT_FALSE(torch::equal(once, augmented(pixels, options, 8)));
  const auto unmoved = augmented(pixels, still(), 7);
  for (int64_t i = 0; i < 6; ++i) EXPECT_TRUE(is_flip_or_same(unmoved[i], pixels[i]));
}

TEST(Augmentation, ScalesAboutTheCentreWithinTheRangeAsked) {
  const auto pixels = pictures();
  auto options = still();
  options.zoom = 0.2;
  const auto scaled = augmented(pixels, options, 7).to(torch::kFloat32);
  const auto unmoved = augmented(pixels, still(), 7).to(torch::kFloat32);
  const auto slope = [](const Tensor& image) {  // per column, in the middle row
    const auto row = image[0][kSide / 2];
    return (row[20].item<double>() - row[12].item<double>()) / 8.0;
  };
  const auto middle = torch::indexing::Slice(15, 17);
  for (int64_t i = 0; i < 6; ++i) {
    const double ratio = slope(unmoved[i]) / slope(scaled[i]);  // = the scale
    EXPECT_GT(ratio, 0.8 - 0.03);                               // values are whole numbers
    EXPECT_LT(ratio, 1.2 + 0.03);
    EXPECT_LT((scaled[i] - unmoved[i]).index({0, middle, middle}).abs().max().item<double>(), 1.6);
  }
  EXPECT_FALSE(torch::equal(scaled, unmoved));
}

TEST(Augmentation, ChangesColoursWithinTheRangeAskedAndKeepsGreyGrey) {
  auto options = still();
  options.colour = 0.1;
  const auto grey = pictures().select(1, 0).unsqueeze(1).expand({6, 3, kSide, kSide}).contiguous();
  const auto changed = augmented(grey, options, 7).to(torch::kFloat32);
  EXPECT_LE((changed.select(1, 0) - changed.select(1, 1)).abs().max().item<double>(), 1.0);
  const auto unmoved = augmented(grey, still(), 7).to(torch::kFloat32);
  const auto mean = unmoved.mean({1, 2, 3});
  const auto ratio = changed.mean({1, 2, 3}) / mean;
  EXPECT_GT(ratio.min().item<double>(), 0.89);
  EXPECT_LT(ratio.max().item<double>(), 1.11);
  EXPECT_FALSE(torch::equal(changed, unmoved));
}

}  // namespace
}  // namespace partwise::training
