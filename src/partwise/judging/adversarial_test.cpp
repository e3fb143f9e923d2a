#include "partwise/judging/adversarial.h"

#include "partwise/models/examples.h"
#include "partwise/networks/network.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partwise::judging {
namespace {

// Two classes: 1 if w.x > threshold.
Scores line(const Tensor& weight, double threshold) {
  return [=](const Tensor& images) {
    const auto margin = images.flatten(1).matmul(weight) - threshold;
    return torch::stack({torch::zeros_like(margin), margin}, 1);
  };
}

networks::Network interpretable_network() {
  return {networks::build_architecture("tiny", networks::Arm::interpretable, 3), 3, {}, 4};
}

using Method = Attack (*)(const Scores&, const Tensor&, const AttackOptions&);
constexpr Method kMethods[] = {attack_by_lbfgs, attack_by_carlini_wagner};

// The nearest point decided otherwise lies |margin| / |w| away.
TEST(Attack, FindsTheDistanceToAPlane) {
  torch::manual_seed(1);
  const auto weight = torch::randn({48});
  const auto images = 0.3 + 0.4 * torch::rand({6, 3, 4, 4});
  const double threshold = images.flatten(1).matmul(weight).median().item<double>() + 0.05;
  const auto margin = images.flatten(1).matmul(weight) - threshold;
  const auto wanted = (margin.abs() / weight.norm() / std::sqrt(48.0)).to(torch::kFloat64);
  for (const auto attack : kMethods) {
    const auto found = attack(line(weight, threshold), images, {});
    EXPECT_LT((found.distortion / wanted - 1.0).abs().max().item<double>(), 0.02)
        << found.distortion << wanted;
    EXPECT_TRUE(found.distortion.ge(wanted * 0.9999).all().item<bool>());
  }
}

// w = (2, 1), 0.5 short of the threshold at x = (0.9, 0.5). Freely r = (0.2, 0.1); but the first
// value ends at 1, so r = (0.1, 0.3).
TEST(Attack, StaysInTheBox) {
  const auto scores = line(torch::tensor({2.0F, 1.0F}), 2.8);
  const auto image = torch::tensor({0.9F, 0.5F}).view({1, 1, 1, 2});
  for (const auto attack : kMethods) {
    const bool lbfgs = attack == attack_by_lbfgs;
    const auto found =
        attack(scores, image, {.steps = lbfgs ? 40 : 150, .searches = lbfgs ? 12 : 6});
    EXPECT_LE(found.images.max().item<double>(), 1.0);
    // Carlini and Wagner's w only nears the bound.
    const double tolerance = lbfgs ? 0.003 : 0.02;
    EXPECT_NEAR(found.distortion.item<double>(), std::sqrt((0.01 + 0.09) / 2.0), tolerance);
  }
}

// Nothing in the box has w.x > 3.
TEST(Attack, SaysWhereItFails) {
  const auto image = torch::full({1, 1, 1, 2}, 0.5F);
  for (const auto attack : kMethods) {
    const auto found = attack(line(torch::tensor({2.0F, 1.0F}), 3.5), image, {});
    EXPECT_TRUE(std::isnan(found.distortion.item<double>()));
    EXPECT_TRUE(torch::equal(found.images, image));
  }
}

// Along d the plane is |margin| / (w.d) away; an attack that found it needs less in any case.
TEST(RandomWalk, EndsWhereItsLineMeetsThePlane) {
  torch::manual_seed(2);
  const auto weight = torch::randn({300});
  const auto image = torch::full({1, 3, 10, 10}, 0.5F);
  const double reach = 0.02 * weight.norm().item<double>();
  const auto scores = line(weight, weight.sum().item<double>() * 0.5 + reach);
  const auto attack = attack_by_lbfgs(scores, image, {});
  const auto walk = walk_at_random(scores, image, attack.distortion, 5);
  EXPECT_FALSE(walk.flips.item<bool>());
  if (std::isnan(walk.distortion.item<double>())) return;  // the other way
  EXPECT_GT(walk.distortion.item<double>(), attack.distortion.item<double>());
}

TEST(RandomWalk, KeepsItsWordAboutFlips) {
  // Everything but the image itself is decided otherwise: any direction flips at once.
  const auto image = torch::full({1, 1, 2, 2}, 0.5F);
  const Scores brittle = [&](const Tensor& images) {
    const auto away = (images - image).flatten(1).abs().sum(1);
    return torch::stack({0.001 - away, away * 0.0}, 1);
  };
  const auto walk = walk_at_random(brittle, image, torch::full({1}, 0.2, torch::kFloat64), 1);
  EXPECT_TRUE(walk.flips.item<bool>());
  EXPECT_LT(walk.distortion.item<double>(), 0.2);
}

std::vector<Tensor> peaks_of(const networks::Output& output) {
  std::vector<Tensor> peaks;
  for (const auto& tap : output.taps) peaks.push_back(tap.maps.flatten(2).argmax(2));
  return peaks;
}

// The mask's place is a constant to the gradient, which therefore is the network's own wherever no
// peak jumps: a short step along it changes the score by its length.
TEST(AttackedNetwork, HasItsOwnGradientThroughTheMasks) {
  const auto network = interpretable_network();
  torch::manual_seed(3);
  const auto image = torch::rand({1, 3, 112, 112});
  const auto score = [](const networks::Output& output) {
    return output.logits.select(1, 0) - output.logits.select(1, 1);
  };
  const auto look = [&](const Tensor& x) { return network.evaluate(models::standardised(x)); };
  const auto leaf = image.clone().requires_grad_();
  const auto gradient = torch::autograd::grad({score(look(leaf))}, {leaf}).front();
  const torch::NoGradGuard no_grad;
  const double slope = gradient.norm().item<double>();
  constexpr double kStep = 1e-3;  // of the whole image: 5e-6 a value
  const auto before = look(image - gradient * (kStep / slope));
  const auto after = look(image + gradient * (kStep / slope));
  const auto there = peaks_of(before);
  const auto here = peaks_of(after);
  for (std::size_t i = 0; i < here.size(); ++i) ASSERT_TRUE(torch::equal(here[i], there[i]));
  const double kept = (score(after) - score(before)).item<double>() / (2.0 * kStep);
  EXPECT_NEAR(kept / slope, 1.0, 0.05);  // float32
}

TEST(AttackedNetwork, IsDecidedOtherwiseAndUnchanged) {
  const auto network = interpretable_network();
  torch::manual_seed(3);
  const auto images = torch::rand({1, 3, 112, 112});
  const Scores scores = [&](const Tensor& x) {
    return network.evaluate(models::standardised(x)).logits;
  };
  const torch::NoGradGuard no_grad;
  const auto before = scores(images);
  const AttackOptions options{.images = 1, .steps = 8, .searches = 4};
  const auto attack = attack_by_lbfgs(scores, images, options);
  EXPECT_TRUE(torch::equal(scores(images), before));
  ASSERT_TRUE(std::isfinite(attack.distortion.item<double>()));
  EXPECT_FALSE(torch::equal(scores(attack.images).argmax(1), before.argmax(1)));
  EXPECT_TRUE(torch::equal(attack_by_lbfgs(scores, images, options).images, attack.images));
}

}  // namespace
}  // namespace partwise::judging
