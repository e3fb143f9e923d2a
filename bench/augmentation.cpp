// Images a second that training's augmentation makes on one thread, and the same changes written
// with LibTorch's operators, image by image, as a data loader's worker would.
//   augmentation [REPEATS]
#include "partwise/training/augmentation.h"

#include "partwise/base/error.h"
#include "partwise/base/random.h"
#include "partwise/tensors/torch.h"

#include <ATen/Parallel.h>
#include <torch/nn/functional.h>

#include <algorithm>
#include <chrono>

namespace {

using partwise::Random;
using partwise::Tensor;
using partwise::training::TrainOptions;
namespace nn = torch::nn::functional;

constexpr int64_t kSide = 224;
constexpr int64_t kBatch = 32;

Tensor scaled(const Tensor& image, double scale) {
  const auto turn = torch::tensor({{1.0 / scale, 0.0, 0.0}, {0.0, 1.0 / scale, 0.0}});
  const auto grid = nn::affine_grid(turn.unsqueeze(0), {1, 3, kSide, kSide}, true);
  const auto how = nn::GridSampleFuncOptions().padding_mode(torch::kBorder).align_corners(true);
  return nn::grid_sample(image.unsqueeze(0), grid, how).squeeze(0);
}

Tensor recoloured(const Tensor& image, double saturation, double contrast, double light) {
  const auto grey = 0.299 * image[0] + 0.587 * image[1] + 0.114 * image[2];
  const auto saturated = grey + saturation * (image - grey);
  return (saturated - grey.mean()) * (light * contrast) + light * grey.mean();
}

Tensor by_operators(const Tensor& crop, const TrainOptions& options, Random& random) {
  const auto around_one = [&](double reach) { return random.uniform(1.0 - reach, 1.0 + reach); };
  const int64_t jitter = options.jitter;
  const auto start = [&] { return random.below(2 * jitter + 1); };
  auto image = crop.to(torch::kFloat32);
  if (random.chance(0.5)) image = image.flip(2);
  const auto room = nn::PadFuncOptions({jitter, jitter, jitter, jitter}).mode(torch::kReplicate);
  image = nn::pad(image.unsqueeze(0), room).squeeze(0);
  image = image.narrow(1, start(), kSide).narrow(2, start(), kSide);
  if (options.zoom > 0.0) image = scaled(image, around_one(options.zoom));
  if (options.colour > 0.0) {
    const double saturation = around_one(options.colour);
    const double contrast = around_one(options.colour);
    image = recoloured(image, saturation, contrast, around_one(options.colour));
  }
  return (image + 0.5).clamp(0.0, 255.0).to(torch::kUInt8);
}

template <class Make>
double images_a_second(int repeats, const Make& make) {
  std::vector<double> seconds;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    make(repeat);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds.push_back(taken.count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return static_cast<double>(kBatch) / seconds[static_cast<std::size_t>(repeats / 2)];
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::stoi(argv[1]) : 50;
  partwise::ensure(argc <= 2 && repeats > 0, "usage: augmentation [REPEATS]");
  const torch::NoGradGuard no_grad;
  at::set_num_threads(1);
  torch::manual_seed(1);
  const auto pixels = torch::randint(256, {kBatch, 3, kSide, kSide}, torch::kUInt8);
  const auto rows = torch::arange(kBatch, torch::kInt64);
  const auto target = torch::empty_like(pixels);
  fmt::print("| changes | operators, images/s | partwise, images/s | ratio |\n|---|---|---|---|\n");
  const std::vector<std::tuple<const char*, double, double>> kinds{
      {"flip, shift", 0.0, 0.0}, {"and scale", 0.15, 0.0}, {"and scale and colours", 0.15, 0.2}};
  for (const auto& [name, zoom, colour] : kinds) {
    TrainOptions options;
    options.jitter = 12;
    options.zoom = zoom;
    options.colour = colour;
    Random random(1);
    const double operators = images_a_second(repeats, [&](int) {
      for (int64_t i = 0; i < kBatch; ++i) target[i] = by_operators(pixels[i], options, random);
    });
    const double ours = images_a_second(repeats, [&](int repeat) {
      partwise::training::augment(pixels, rows, options, static_cast<uint64_t>(repeat), 0, 1,
                                  target);
    });
    fmt::print("| {} | {:.0f} | {:.0f} | {:.1f} |\n", name, operators, ours, ours / operators);
  }
  return 0;
}
