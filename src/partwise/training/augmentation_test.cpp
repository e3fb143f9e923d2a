#include "partwise/training/augmentation.h"

#include "partwise/base/random.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

Tensor augmented(const Tensor& pixels, const TrainOptions& options, uint64_t seed) {
  auto target = torch::empty_like(pixels);
  augment(pixels, torch::arange(pixels.size(0)), options, seed, 0, 0, target);
  return target;
}

TrainOptions still() {
  TrainOptions options;
  options.jitter = 0;
  return options;
}

bool is_flip_or_same(const Tensor& made, const Tensor& original) {
  return torch::equal(made, original) || torch::equal(made, original.flip({2}));
}

// The formulas, pixel by pixel.
struct PlainImage {
  int64_t side;
  std::vector<uint8_t> values;

  uint8_t& at(int64_t plane, int64_t y, int64_t x) {
    return values[static_cast<std::size_t>((plane * side + y) * side + x)];
  }

  template <typename Value>
  void replace(Value value) {
    auto made = *this;
    for (int64_t plane = 0; plane < 3; ++plane) {
      for (int64_t y = 0; y < side; ++y) {
        for (int64_t x = 0; x < side; ++x) made.at(plane, y, x) = value(plane, y, x);
      }
    }
    values = std::move(made.values);
  }

  void move(bool flip, int64_t right, int64_t down) {
    const auto inside = [&](int64_t at) { return std::clamp<int64_t>(at, 0, side - 1); };
    replace([&](int64_t plane, int64_t y, int64_t x) {
      return at(plane, inside(y + down), flip ? side - 1 - inside(x + right) : inside(x + right));
    });
  }

  void scale(double scale) {
    const double centre = 0.5 * static_cast<double>(side - 1);
    const auto place = [&](int64_t x) {
      return std::clamp(centre + (static_cast<double>(x) - centre) / scale, 0.0, 2.0 * centre);
    };
    const auto share = [](double at) { return static_cast<float>(at - std::floor(at)); };
    replace([&](int64_t plane, int64_t y, int64_t x) {
      const double column = place(x);
      const double line = place(y);
      const auto left = static_cast<int64_t>(column);
      const auto top = static_cast<int64_t>(line);
      const auto mix = [&](int64_t row) {
        return static_cast<float>(at(plane, row, left)) * (1.0F - share(column)) +
               static_cast<float>(at(plane, row, std::min(left + 1, side - 1))) * share(column);
      };
      const auto mixed =
          mix(top) * (1.0F - share(line)) + mix(std::min(top + 1, side - 1)) * share(line);
      return static_cast<uint8_t>(std::floor(mixed + 0.5F));
    });
  }

  double grey(int64_t y, int64_t x) {
    return 0.299 * at(0, y, x) + 0.587 * at(1, y, x) + 0.114 * at(2, y, x);
  }

  void recolour(double saturation, double contrast, double light) {
    double mean = 0.0;
    for (int64_t i = 0; i < side * side; ++i)
      mean += grey(i / side, i % side) / static_cast<double>(side * side);
    replace([&](int64_t plane, int64_t y, int64_t x) {
      const double saturated = grey(y, x) + saturation * (at(plane, y, x) - grey(y, x));
      const double changed = light * (mean + contrast * (saturated - mean));
      return static_cast<uint8_t>(std::clamp(changed + 0.5, 0.0, 255.0));
    });
  }
};

// Noise, with a side that no word or vector divides.
struct Batch {
  Tensor pixels = torch::empty({9, 3, 29, 29}, torch::kUInt8);
  Tensor rows = torch::tensor({4, 0, 8, 8, 2, 7, 1, 3, 6, 5, 0, 1}, torch::kInt64);
  uint64_t seed = 11;
  int64_t first = 3;

  Batch() {
    Random random(5);
    auto* value = pixels.data_ptr<uint8_t>();
    for (int64_t i = 0; i < pixels.numel(); ++i) value[i] = static_cast<uint8_t>(random.below(256));
  }

  Tensor shown(const TrainOptions& options, int threads) const {
    auto target = torch::empty({rows.numel(), 3, 29, 29}, torch::kUInt8);
    augment(pixels, rows, options, seed, first, threads, target);
    return target;
  }

  Tensor plainly(const TrainOptions& options) const {
    Random moves(seed);
    const auto shift = [&] { return moves.below(2 * options.jitter + 1) - options.jitter; };
    std::vector<Tensor> shown;
    for (int64_t place = 0; place < first + rows.numel(); ++place) {
      const bool flip = moves.chance(0.5);
      const auto right = shift();
      const auto down = shift();
      if (place < first) continue;
      const auto crop = pixels[rows[place - first].item<int64_t>()];
      const auto* values = crop.data_ptr<uint8_t>();
      PlainImage image{29, {values, values + crop.numel()}};
      image.move(flip, right, down);
      Random look(derive_seed({seed, 1, static_cast<uint64_t>(place)}));
      const auto factor = [&](double reach) { return look.uniform(1.0 - reach, 1.0 + reach); };
      if (options.zoom > 0.0) image.scale(factor(options.zoom));
      if (options.colour > 0.0) {
        const double saturation = factor(options.colour);
        const double contrast = factor(options.colour);
        image.recolour(saturation, contrast, factor(options.colour));
      }
      shown.push_back(torch::tensor(image.values, torch::kUInt8).view({3, 29, 29}));
    }
    return torch::stack(shown);
  }
};

TEST(Augmentation, MovesAndScalesAsThePlainFormulasToTheBitOnAnyNumberOfThreads) {
  const Batch batch;
  auto options = still();
  for (const int64_t jitter : {0, 6, 64}) {  // 64: beyond the image
    for (const double zoom : {0.0, 0.1, 0.5}) {
      options.jitter = jitter;
      options.zoom = zoom;
      const auto expected = batch.plainly(options);
      for (const int threads : {0, 1, 3})
        EXPECT_TRUE(torch::equal(batch.shown(options, threads), expected)) << jitter << " " << zoom;
    }
  }
}

TEST(Augmentation, ChangesColoursAsThePlainFormulasToOneGreyLevel) {
  const Batch batch;
  TrainOptions options;
  for (const double colour : {0.05, 0.3, 1.0}) {
    options.colour = colour;
    const auto expected = batch.plainly(options).to(torch::kFloat32);
    const auto difference = (batch.shown(options, 2).to(torch::kFloat32) - expected).abs();
    EXPECT_LE(difference.max().item<double>(), 1.0) << colour;
    EXPECT_LT(difference.mean().item<double>(), 1e-3) << colour;  // float's rounding at a border
  }
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
