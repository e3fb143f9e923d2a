#include "partwise/judging/box_minimiser.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::judging {
namespace {

BoxFunction with_gradient(const std::function<Tensor(const Tensor&)>& values) {
  return [values](const Tensor& points) -> BoxValues {
    const torch::AutoGradMode on(true);
    const auto leaf = points.detach().requires_grad_();
    const auto found = values(leaf);
    return {found.detach(), torch::autograd::grad({found.sum()}, {leaf}).front()};
  };
}

double farthest(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().item<double>();
}

// Separable: the free minimum, cut to the box.
TEST(BoxMinimiser, FindsTheNearestPointOfTheBox) {
  const auto centre = torch::tensor({{0.3, 1.7, -2.0, 0.9}, {0.5, 0.5, 0.5, 5.0}}, torch::kFloat64);
  const auto stretch = torch::tensor({1.0, 10.0, 3.0, 100.0}, torch::kFloat64);
  const auto found = minimise_in_box(
      with_gradient([&](const Tensor& x) { return ((x - centre).square() * stretch).sum(1); }),
      torch::full({2, 4}, 0.2, torch::kFloat64), {});
  EXPECT_LT(farthest(found, centre.clamp(0.0, 1.0)), 1e-6);
}

// min (x - 2)^2 + (y - x)^2 in the box: x at 1, and then y = x = 1; with y <= 1 pulled to 0.4 by
// 4 (y - 0.1)^2: x = 1, y = (1 + 4 * 0.1) / 5 = 0.28. The bound of x moves y.
TEST(BoxMinimiser, LetsTheBoundsMoveTheOtherVariables) {
  const auto found =
      minimise_in_box(with_gradient([](const Tensor& p) {
                        const auto x = p.select(1, 0);
                        const auto y = p.select(1, 1);
                        return (x - 2.0).square() + (y - x).square() + 4.0 * (y - 0.1).square();
                      }),
                      torch::full({1, 2}, 0.5, torch::kFloat64), {});
  EXPECT_LT(farthest(found, torch::tensor({{1.0, 0.28}}, torch::kFloat64)), 1e-6);
}

// Rosenbrock's valley, its minimum (0.5, 0.25) inside the box; steepest descent would need
// thousands of steps. Each row starts elsewhere.
TEST(BoxMinimiser, FollowsACurvedValley) {
  const auto found = minimise_in_box(
      with_gradient([](const Tensor& p) {
        const auto x = p.select(1, 0);
        const auto y = p.select(1, 1);
        return (0.5 - x).square() + 100.0 * (y - x.square()).square();
      }),
      torch::tensor({{0.0, 1.0}, {1.0, 0.0}, {0.1, 0.9}}, torch::kFloat64), {.steps = 100});
  EXPECT_LT(farthest(found, torch::tensor({0.5, 0.25}, torch::kFloat64)), 1e-3);
}

TEST(BoxMinimiser, TreatsEveryRowAsIfItWereAlone) {
  const auto centre = torch::tensor({{0.3, 1.7, 0.1}, {0.8, -0.5, 0.2}}, torch::kFloat64);
  const auto mixed = [](const Tensor& c) {
    return with_gradient([c](const Tensor& x) {
      const auto far = x - c;
      return far.square().sum(1) + far.prod(1) + far.select(1, 0).pow(4) * 30.0;
    });
  };
  const auto start = torch::full({2, 3}, 0.9, torch::kFloat64);
  const auto together = minimise_in_box(mixed(centre), start, {.steps = 12});
  for (int64_t row = 0; row < 2; ++row) {
    const auto alone = minimise_in_box(mixed(centre.slice(0, row, row + 1)),
                                       start.slice(0, row, row + 1), {.steps = 12});
    EXPECT_LT(farthest(alone, together.slice(0, row, row + 1)), 1e-12);
  }
}

TEST(BoxMinimiser, NeverRisesAndStaysInTheBox) {
  torch::manual_seed(3);
  const auto weights = torch::randn({5, 40}, torch::kFloat64);
  const auto bumpy = [&](const Tensor& x) {
    return (x.matmul(weights.t()) * 3.0).sin().sum(1) + (x - 0.5).square().sum(1);
  };
  const auto start = torch::rand({6, 40}, torch::kFloat64);
  Tensor before = bumpy(start);
  for (const int64_t steps : {1, 4, 16}) {
    const auto found = minimise_in_box(with_gradient(bumpy), start, {.steps = steps});
    const auto after = bumpy(found);
    EXPECT_TRUE(after.le(before).all().item<bool>());
    EXPECT_TRUE(found.ge(0.0).logical_and(found.le(1.0)).all().item<bool>());
    before = after;
  }
}

}  // namespace
}  // namespace partwise::judging
