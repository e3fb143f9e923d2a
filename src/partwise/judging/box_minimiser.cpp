#include "partwise/judging/box_minimiser.h"

#include "partwise/tensors/torch.h"

#include <vector>

namespace partwise::judging {
namespace {

constexpr double kArmijo = 1e-4;
constexpr double kCurvature = 1e-10;  // of |s| |y|: what s.y must exceed to be believed

Tensor row_product(const Tensor& a, const Tensor& b) {
  return (a * b).sum(1, /*keepdim=*/true);
}

// 1 where a variable may move: off its bounds, or pushed inwards.
Tensor free_variables(const Tensor& points, const Tensor& gradients) {
  const auto held = points.le(0.0)
                        .logical_and(gradients.gt(0.0))
                        .logical_or(points.ge(1.0).logical_and(gradients.lt(0.0)));
  return held.logical_not().to(points.scalar_type());
}

// The curvature the last steps have shown, each row its own.
class Curvature {
 public:
  explicit Curvature(int64_t memory) : memory_(static_cast<std::size_t>(memory)) {}

  void remember(const Tensor& step, const Tensor& change) {
    if (pairs_.size() == memory_) pairs_.erase(pairs_.begin());
    pairs_.push_back({step, change});
  }

  // Inverse Hessian times `slope` among the free variables. A pair that shows no positive curvature
  // there, and a row that did not move, count for nothing.
  Tensor applied_to(const Tensor& slope, const Tensor& free) const {
    struct Use {
      Tensor step;
      Tensor change;
      Tensor weight;  // 1 / s.y, or 0
      Tensor share;
    };
    std::vector<Use> uses;
    auto result = slope;
    // As long as nothing is known, a step of length 1 at the most.
    auto scale = slope.norm(2, {1}, true).clamp_min(1.0).reciprocal();
    for (const auto& pair : pairs_) {
      const auto step = pair.step * free;
      const auto change = pair.change * free;
      const auto product = row_product(step, change);
      const auto squares = row_product(change, change);
      const auto believed = product > kCurvature * (row_product(step, step) * squares).sqrt();
      const auto nothing = torch::zeros_like(product);
      uses.push_back({step, change, torch::where(believed, product.reciprocal(), nothing), {}});
      scale = torch::where(believed, product / squares, scale);
    }
    for (auto use = uses.rbegin(); use != uses.rend(); ++use) {
      use->share = use->weight * row_product(use->step, result);
      result = result - use->share * use->change;
    }
    result = result * scale;
    for (const auto& use : uses)
      result = result + (use.share - use.weight * row_product(use.change, result)) * use.step;
    return result;
  }

 private:
  struct Pair {
    Tensor step;
    Tensor change;  // of the gradient
  };
  std::size_t memory_;
  std::vector<Pair> pairs_;
};

struct State {
  Tensor points;
  BoxValues at;
};

// Takes over the rows of `other` where `which` [rows, 1] holds.
void adopt(State& state, const State& other, const Tensor& which) {
  state.points = torch::where(which, other.points, state.points);
  state.at.values = torch::where(which.squeeze(1), other.at.values, state.at.values);
  state.at.gradients = torch::where(which, other.at.gradients, state.at.gradients);
}

// Halves each row's step until the function falls enough; rows for which it never does stay.
State searched(const BoxFunction& function,
               const State& from,
               const Tensor& direction,
               int64_t trials) {
  State result = from;
  auto length = torch::ones_like(from.at.values).unsqueeze(1);
  auto done = torch::zeros_like(length).to(torch::kBool);
  for (int64_t trial = 0; trial < trials; ++trial) {
    State tried;
    tried.points = (from.points + length * direction).clamp(0.0, 1.0);
    tried.at = function(tried.points);
    const auto promised =
        kArmijo * row_product(from.at.gradients, tried.points - from.points).squeeze(1);
    const auto falls = (tried.at.values <= from.at.values + promised).unsqueeze(1);
    adopt(result, tried, falls.logical_and(done.logical_not()));
    done = done.logical_or(falls);
    if (done.all().item<bool>()) break;
    length = torch::where(done, length, length * 0.5);
  }
  return result;
}

}  // namespace

Tensor minimise_in_box(const BoxFunction& function,
                       const Tensor& start,
                       const BoxMinimiserOptions& options) {
  const torch::NoGradGuard no_grad;
  State now;
  now.points = start.clamp(0.0, 1.0);
  now.at = function(now.points);
  Curvature curvature(options.memory);
  for (int64_t step = 0; step < options.steps; ++step) {
    const auto free = free_variables(now.points, now.at.gradients);
    const auto slope = now.at.gradients * free;
    auto direction = curvature.applied_to(slope, free).neg();
    const auto downhill = row_product(direction, slope) < 0.0;
    direction = torch::where(downhill, direction, slope.neg());
    auto next = searched(function, now, direction, options.trials);
    const auto moved = next.points - now.points;
    if (moved.abs().max().item<double>() == 0.0) break;
    curvature.remember(moved, next.at.gradients - now.at.gradients);
    now = std::move(next);
  }
  return now.points;
}

}  // namespace partwise::judging
