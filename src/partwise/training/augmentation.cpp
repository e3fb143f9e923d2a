#include "partwise/training/augmentation.h"

#include "partwise/base/parallel.h"
#include "partwise/base/random.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>

namespace partwise::training {
namespace {

constexpr uint64_t kLook = 1;  // of the seeds of scale and colour

// Flips and shifts.
Tensor moved(const Tensor& pixels, int64_t jitter, uint64_t seed, int64_t first) {
  const auto side = pixels.size(3);
  auto result = torch::empty_like(pixels);
  const auto* source = pixels.data_ptr<uint8_t>();
  auto* target = result.data_ptr<uint8_t>();
  Random random(seed);
  std::vector<int64_t> column(static_cast<std::size_t>(side));
  for (int64_t image = 0; image < first + pixels.size(0); ++image) {
    const bool flip = random.chance(0.5);
    const int64_t right = random.below(2 * jitter + 1) - jitter;
    const int64_t down = random.below(2 * jitter + 1) - jitter;
    if (image < first) continue;
    for (int64_t x = 0; x < side; ++x) {
      const int64_t from = std::clamp<int64_t>(x + right, 0, side - 1);
      column[static_cast<std::size_t>(x)] = flip ? side - 1 - from : from;
    }
    for (int64_t plane = 0; plane < 3; ++plane, source += side * side) {
      for (int64_t y = 0; y < side; ++y) {
        const auto* row = source + std::clamp<int64_t>(y + down, 0, side - 1) * side;
        for (const int64_t from : column) *target++ = row[from];
      }
    }
  }
  return result;
}

// Bilinear weights of one output row or column.
struct Between {
  int64_t low = 0;
  int64_t high = 0;
  float share = 0.0F;  // of high
};

std::vector<Between> scaled_places(int64_t side, double scale) {
  const double centre = 0.5 * static_cast<double>(side - 1);
  std::vector<Between> places;
  for (int64_t x = 0; x < side; ++x) {
    const double at = std::clamp(centre + (static_cast<double>(x) - centre) / scale, 0.0,
                                 static_cast<double>(side - 1));
    const auto low = static_cast<int64_t>(at);
    places.push_back({low, std::min(low + 1, side - 1), static_cast<float>(at - std::floor(at))});
  }
  return places;
}

void rescale(uint8_t* plane, int64_t side, const std::vector<Between>& places) {
  const std::vector<uint8_t> source(plane, plane + side * side);
  for (const auto& y : places) {
    const auto* upper = source.data() + y.low * side;
    const auto* lower = source.data() + y.high * side;
    for (const auto& x : places) {
      const auto mix = [&](const uint8_t* row) {
        return static_cast<float>(row[x.low]) * (1.0F - x.share) +
               static_cast<float>(row[x.high]) * x.share;
      };
      *plane++ = static_cast<uint8_t>(mix(upper) * (1.0F - y.share) + mix(lower) * y.share + 0.5F);
    }
  }
}

// Saturation about each pixel's grey, contrast about the image's mean grey, then brightness.
void recolour(uint8_t* image, int64_t cells, double saturation, double contrast, double light) {
  const auto grey_of = [&](int64_t i) {
    return 0.299 * image[i] + 0.587 * image[cells + i] + 0.114 * image[2 * cells + i];
  };
  double mean = 0.0;
  for (int64_t i = 0; i < cells; ++i) mean += grey_of(i);
  mean /= static_cast<double>(cells);
  for (int64_t i = 0; i < cells; ++i) {
    const double grey = grey_of(i);
    for (auto* value : {image + i, image + cells + i, image + 2 * cells + i}) {
      const double saturated = grey + saturation * (*value - grey);
      const double changed = light * (mean + contrast * (saturated - mean));
      *value = static_cast<uint8_t>(std::clamp(changed + 0.5, 0.0, 255.0));
    }
  }
}

}  // namespace

Tensor augmented(const Tensor& pixels, const TrainOptions& options, uint64_t seed, int64_t first) {
  auto result = moved(pixels, options.jitter, seed, first);
  if (options.zoom == 0.0 && options.colour == 0.0) return result;
  const auto side = result.size(3);
  auto* images = result.data_ptr<uint8_t>();
  parallel_for(result.size(0), 0, [&](int64_t index) {
    auto* image = images + index * 3 * side * side;
    Random random(derive_seed({seed, kLook, static_cast<uint64_t>(first + index)}));
    const auto around_one = [&](double reach) { return random.uniform(1.0 - reach, 1.0 + reach); };
    if (options.zoom > 0.0) {
      const auto places = scaled_places(side, around_one(options.zoom));
      for (int64_t plane = 0; plane < 3; ++plane)
        rescale(image + plane * side * side, side, places);
    }
    if (options.colour > 0.0) {
      const double saturation = around_one(options.colour);
      const double contrast = around_one(options.colour);
      recolour(image, side * side, saturation, contrast, around_one(options.colour));
    }
  });
  return result;
}

}  // namespace partwise::training
