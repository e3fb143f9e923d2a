#include "partwise/interpretable.h"
#include "partwise/parts/mask.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"
#include "partwise/training/optimizer.h"

#include <gtest/gtest.h>

// Test 8: images with a disc and a ring each, against images with neither. Nothing but the filter
// loss tells a filter to choose one of the two.
namespace partwise::training {
namespace {

using parts::PartOptions;

constexpr int64_t kPixels = 28;
constexpr int64_t kSide = 14;
constexpr int64_t kFirst = 12;
constexpr int64_t kFilters = 8;

struct Images {
  Tensor pixels;    // [count, 1, 28, 28]
  Tensor category;  // [count]: 0 with blobs, -1 without
  Tensor disc;      // [count, 2]: row and column in cells
  Tensor ring;
};

Images draw(int64_t count, double positive_share) {
  const auto position = [&] { return 2.0 + 10.0 * torch::rand({count, 2}); };
  Images images{{}, torch::full({count}, -1, torch::kInt64), position(), position()};
  // Redraw the ring until it keeps clear of the disc.
  for (int tries = 0; tries < 50; ++tries) {
    const auto close = (images.disc - images.ring).norm(2, 1, true) < 6.0;
    images.ring = torch::where(close, position(), images.ring);
  }
  const auto grid = torch::arange(kPixels, torch::kFloat32) / 2.0;
  const auto distance = [&](const Tensor& centre) {
    const auto down = grid.view({1, -1, 1}) - centre.select(1, 0).view({-1, 1, 1});
    const auto across = grid.view({1, 1, -1}) - centre.select(1, 1).view({-1, 1, 1});
    return (down.square() + across.square()).sqrt();
  };
  const auto disc = (distance(images.disc) < 1.2).to(torch::kFloat32);
  const auto ring = ((distance(images.ring) - 1.7).abs() < 0.45).to(torch::kFloat32);
  const auto own = torch::rand({count}) < positive_share;
  images.category.masked_fill_(own, 0);
  const auto shown = (disc + ring) * own.view({-1, 1, 1});
  images.pixels = (shown + 0.15 * torch::randn_like(shown)).unsqueeze(1);
  return images;
}

struct Outcome {
  double accuracy = 0.0;
  double locked = 0.0;  // share of test images on which a filter's peak is at its favourite blob
  double purity = 0.0;
};

Outcome train(double strength, uint64_t seed) {
  tensors::start_session(1);  // maps this small cost more to share than to compute
  torch::manual_seed(seed);
  PartOptions options;
  options.strength = strength;
  options.loudness = parts::Loudness::free;  // this task is soon content with quiet filters
  Interpretable layer(kFilters, kSide, 1, options);
  const auto first = (0.28 * torch::randn({kFirst, 1, 5, 5})).requires_grad_();
  const auto first_bias = torch::zeros({kFirst}).requires_grad_();
  const auto weight = (0.13 * torch::randn({kFilters, kFirst, 3, 3})).requires_grad_();
  const auto bias = torch::zeros({kFilters}).requires_grad_();
  const auto decide = (0.1 * torch::randn({1, kFilters})).requires_grad_();
  const auto threshold = torch::zeros({1}).requires_grad_();
  Optimizer optimizer(UpdateRule::adamw, 0.0,
                      {{"first", first},
                       {"first.bias", first_bias},
                       {"weight", weight},
                       {"bias", bias},
                       {"decide", decide},
                       {"threshold", threshold}});
  const auto maps_of = [&](const Tensor& pixels) {
    const auto edges = torch::relu(torch::conv2d(pixels, first, first_bias, 2, 2));
    return torch::relu(torch::conv2d(edges, weight, bias, 1, 1));
  };
  const auto logits_of = [&](const Tensor& masked) {
    return torch::linear(masked.amax({2, 3}), decide, threshold).squeeze(1);
  };
  for (int step = 0; step < 800; ++step) {
    const auto images = draw(32, 0.5);
    const auto masked = layer->mask_and_learn(maps_of(images.pixels), images.category);
    const auto logit = logits_of(masked);
    const auto target = images.category.eq(0).to(torch::kFloat32);
    const auto loss = torch::binary_cross_entropy_with_logits(logit, target);
    optimizer.zero_gradients();
    loss.backward();
    optimizer.step(0.01);
  }
  const torch::NoGradGuard no_grad;
  const auto test = draw(400, 1.0);
  const auto maps = maps_of(test.pixels);
  const auto peaks = parts::peak_cells(maps, options);
  const auto row = peaks.div(kSide, "floor").to(torch::kFloat32);
  const auto column = peaks.remainder(kSide).to(torch::kFloat32);
  const auto share_at = [&](const Tensor& centre) {  // [filter]
    const auto down = row - centre.select(1, 0).unsqueeze(1);
    const auto across = column - centre.select(1, 1).unsqueeze(1);
    return ((down.square() + across.square()).sqrt() < 2.7).to(torch::kFloat32).mean(0);
  };
  const auto level = maps.amax({2, 3}).mean(0);
  const auto alive = (level > 0.05 * level.max()).to(torch::kFloat32);
  const auto locked = torch::maximum(share_at(test.disc), share_at(test.ring));
  const auto near =
      parts::masks_at(peaks, parts::unit_templates(kSide, {}).to(torch::kFloat32)) > 0;
  const auto inside =
      (maps * near).flatten(2).sum(2).sum(0) / maps.flatten(2).sum(2).sum(0).clamp_min(1e-9);
  const auto fresh = draw(400, 0.5);
  const auto logit = logits_of(layer->mask(maps_of(fresh.pixels)));
  const auto correct = logit.gt(0).eq(fresh.category.eq(0));
  const auto mean = [&](const Tensor& value) {
    return ((value * alive).sum() / alive.sum().clamp_min(1)).item<double>();
  };
  return {correct.to(torch::kFloat32).mean().item<double>(), mean(locked), mean(inside)};
}

TEST(TwoBlobs, EachFilterLocksOntoOneOfThemWithTheLossAndNotWithoutIt) {
  double locked = 0.0;
  double locked_without = 0.0;
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    // The task is easy and its gradient soon small: a larger share of it than photographs allow.
    const auto with = train(0.5, seed);
    const auto without = train(0.0, seed);
    EXPECT_GT(with.accuracy, 0.98) << seed;
    EXPECT_GT(with.locked, without.locked + 0.1) << seed;
    EXPECT_GT(with.purity, without.purity + 0.3) << seed;
    locked += with.locked / 5.0;
    locked_without += without.locked / 5.0;
  }
  EXPECT_GT(locked, 0.9);
  EXPECT_LT(locked_without, 0.6);
}

}  // namespace
}  // namespace partwise::training
