#include "partwise/judging/adversarial.h"

#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/judging/box_minimiser.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace partwise::judging {
namespace {

constexpr double kFirstTradeOff = 1.0;
constexpr double kTradeOffFactor = 10.0;
constexpr int64_t kHalvings = 10;
constexpr int64_t kDoublings = 11;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor squared_distance(const Tensor& a, const Tensor& b) {
  return (a - b).flatten(1).square().sum(1);
}

Tensor along_images(const Tensor& by_row, const Tensor& images) {
  std::vector<int64_t> shape(static_cast<std::size_t>(images.dim()), 1);
  shape.front() = by_row.size(0);
  return by_row.view(shape);
}

// Halves the stretch between `near`, where the decision stays, and `far`, where it is another.
template <typename Otherwise>
void close_in(Tensor& near, Tensor& far, const Otherwise& otherwise) {
  for (int64_t i = 0; i < kHalvings; ++i) {
    const auto middle = (near + far) / 2.0;
    const auto changed = otherwise(middle);
    far = torch::where(changed, middle, far);
    near = torch::where(changed, near, middle);
  }
}

// The images, what the network decides on them, and the nearest found that are decided otherwise.
class Hunt {
 public:
  Hunt(const Scores& scores, const Tensor& images)
      : scores_(scores), images_(images), nearest_(images.clone()) {
    const torch::NoGradGuard no_grad;
    const auto ranked = std::get<1>(scores(images).topk(2, 1));
    decided_ = ranked.select(1, 0);
    runner_up_ = ranked.select(1, 1);
    distance_ = torch::full({images.size(0)}, kInfinity, images.options());
  }

  const Tensor& images() const { return images_; }
  const Tensor& decided() const { return decided_; }
  const Tensor& runner_up() const { return runner_up_; }

  Tensor flipped(const Tensor& scores) const { return scores.argmax(1).ne(decided_); }
  Tensor flips(const Tensor& candidates) const {
    const torch::NoGradGuard no_grad;
    return flipped(scores_(candidates));
  }

  // Keeps the candidates that are decided otherwise and nearer than what was found before; gives
  // which are decided otherwise.
  Tensor consider(const Tensor& candidates, const Tensor& scores) {
    const torch::NoGradGuard no_grad;
    const auto otherwise = flipped(scores);
    const auto distance = squared_distance(candidates, images_);
    const auto better = otherwise.logical_and(distance < distance_);
    nearest_ = torch::where(along_images(better, images_), candidates, nearest_);
    distance_ = torch::where(better, distance, distance_);
    return otherwise;
  }

  // Walks back towards the images while the decision stays flipped.
  Attack end() {
    const torch::NoGradGuard no_grad;
    auto near = torch::zeros_like(distance_);  // still decided as the image itself
    auto far = torch::ones_like(distance_);
    const auto way = nearest_ - images_;
    const auto at = [&](const Tensor& share) { return images_ + along_images(share, way) * way; };
    close_in(near, far, [&](const Tensor& share) { return flips(at(share)); });
    const auto found = distance_ < kInfinity;
    const auto best = torch::where(along_images(found, way), at(far), images_);
    const auto verified = flips(best);
    const auto values = static_cast<double>(way.numel() / way.size(0));
    const auto exact = squared_distance(best.to(torch::kFloat64), images_.to(torch::kFloat64));
    const auto none = torch::full_like(exact, std::nan(""));
    return {best, torch::where(verified, (exact / values).sqrt(), none).cpu()};
  }

 private:
  const Scores& scores_;
  Tensor images_;
  Tensor nearest_;
  Tensor decided_;
  Tensor runner_up_;
  Tensor distance_;  // squared, of nearest_; infinite: none
};

// The trade-off c of each row: raised tenfold until the attack succeeds, lowered tenfold until it
// fails, then halved in between.
class TradeOff {
 public:
  explicit TradeOff(const Tensor& images)
      : value_(torch::full({images.size(0)}, kFirstTradeOff, images.options())),
        failed_(torch::zeros_like(value_)),
        succeeded_(torch::full_like(value_, kInfinity)) {}

  const Tensor& value() const { return value_; }

  void learn(const Tensor& success) {
    succeeded_ = torch::where(success, value_, succeeded_);
    failed_ = torch::where(success, failed_, value_);
    const auto between = (failed_ * succeeded_).sqrt();
    value_ =
        torch::where(failed_ == 0.0, succeeded_ / kTradeOffFactor,
                     torch::where(torch::isinf(succeeded_), failed_ * kTradeOffFactor, between));
  }

 private:
  Tensor value_;
  Tensor failed_;
  Tensor succeeded_;
};

Tensor gradient_of(const Tensor& values, const Tensor& leaf) {
  return torch::autograd::grad({values.sum()}, {leaf}).front();
}

// How far the decision leads the best of the other classes; 0 where it does not.
Tensor lead(const Tensor& scores, const Tensor& decided) {
  const auto own =
      torch::zeros_like(scores).scatter_(1, decided.unsqueeze(1), 1.0).to(torch::kBool);
  const auto others = scores.masked_fill(own, -kInfinity).amax(1);
  return (scores.gather(1, decided.unsqueeze(1)).squeeze(1) - others).clamp_min(0.0);
}

// Which rows were decided otherwise on the way.
Tensor carlini_wagner_round(const Scores& scores,
                            const Tensor& trade_off,
                            int64_t steps,
                            Hunt& hunt) {
  constexpr double kRate = 0.01;
  constexpr double kFirstMemory = 0.9;
  constexpr double kSecondMemory = 0.999;
  constexpr double kTiny = 1e-8;
  constexpr double kInside = 0.999999;  // tanh reaches its ends nowhere
  const auto& images = hunt.images();
  auto w = ((images * 2.0 - 1.0) * kInside).atanh();
  auto first = torch::zeros_like(w);
  auto second = torch::zeros_like(w);
  auto success = torch::zeros({images.size(0)}, images.options().dtype(torch::kBool));
  for (int64_t step = 1; step <= steps; ++step) {
    Tensor gradient;
    {
      const torch::AutoGradMode on(true);
      const auto leaf = w.detach().requires_grad_();
      const auto candidates = (leaf.tanh() + 1.0) / 2.0;
      const auto seen = scores(candidates);
      gradient = gradient_of(
          squared_distance(candidates, images) + trade_off * lead(seen, hunt.decided()), leaf);
      success = success.logical_or(hunt.consider(candidates.detach(), seen.detach()));
    }
    first = kFirstMemory * first + (1.0 - kFirstMemory) * gradient;
    second = kSecondMemory * second + (1.0 - kSecondMemory) * gradient.square();
    const auto time = static_cast<double>(step);
    const auto mean = first / (1.0 - std::pow(kFirstMemory, time));
    const auto spread = (second / (1.0 - std::pow(kSecondMemory, time))).sqrt();
    const double rate = kRate * (1.0 - (time - 1.0) / static_cast<double>(steps));
    w = w - rate * mean / (spread + kTiny);
  }
  return success;
}

constexpr uint64_t kAttackStream = 0x61747461;
constexpr int64_t kAttackBatch = 16;

std::vector<int64_t> drawn_rows(int64_t rows, int64_t wanted, uint64_t seed) {
  std::vector<int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  Random random(seed);
  shuffle(order, random);
  order.resize(static_cast<std::size_t>(std::min(rows, wanted)));
  std::sort(order.begin(), order.end());
  return order;
}

void append(const Attack& attack, const RandomWalk& walk, std::vector<metrics::AttackedRow>& rows) {
  for (int64_t row = 0; row < attack.distortion.size(0); ++row) {
    rows.push_back({attack.distortion[row].item<double>(), walk.distortion[row].item<double>(),
                    walk.flips[row].item<bool>()});
  }
}

}  // namespace

Attack attack_by_lbfgs(const Scores& scores, const Tensor& images, const AttackOptions& options) {
  const torch::NoGradGuard no_grad;
  Hunt hunt(scores, images);
  TradeOff trade_off(images);
  const auto flat = images.flatten(1);
  for (int64_t search = 0; search < options.searches; ++search) {
    const auto c = trade_off.value();
    const auto found = minimise_in_box(
        [&](const Tensor& points) -> BoxValues {
          const torch::AutoGradMode on(true);
          const auto leaf = points.detach().requires_grad_();
          const auto candidates = leaf.view(images.sizes());
          const auto seen = scores(candidates);
          const auto loss =
              seen.log_softmax(1).gather(1, hunt.runner_up().unsqueeze(1)).squeeze(1).neg();
          const auto values = (leaf - flat).square().sum(1) + c * loss;
          hunt.consider(candidates.detach(), seen.detach());
          return {values.detach(), gradient_of(values, leaf)};
        },
        flat, {.steps = options.steps});
    trade_off.learn(hunt.flips(found.view(images.sizes())));
  }
  return hunt.end();
}

Attack attack_by_carlini_wagner(const Scores& scores,
                                const Tensor& images,
                                const AttackOptions& options) {
  const torch::NoGradGuard no_grad;
  Hunt hunt(scores, images);
  TradeOff trade_off(images);
  for (int64_t search = 0; search < options.searches; ++search)
    trade_off.learn(carlini_wagner_round(scores, trade_off.value(), 2 * options.steps, hunt));
  return hunt.end();
}

RandomWalk walk_at_random(const Scores& scores,
                          const Tensor& images,
                          const Tensor& distortion,
                          uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const Hunt hunt(scores, images);
  auto generator = torch::make_generator<torch::CPUGeneratorImpl>(seed);
  const auto drawn = torch::randn(images.sizes(), generator, torch::kFloat32).to(images.device());
  // Of length sqrt(n), so that the distortion of `length` times it is `length`, the box aside.
  const auto direction = drawn / along_images(drawn.flatten(1).square().mean(1).sqrt(), drawn);
  const auto at = [&](const Tensor& length) {
    return (images + along_images(length, images) * direction).clamp(0.0, 1.0);
  };
  auto near = torch::zeros({images.size(0)}, images.options());
  auto far = distortion.to(images.device(), images.scalar_type());
  const auto known = far.isfinite();
  far = torch::where(known, far, torch::ones_like(far));
  const auto flips = hunt.flips(at(far)).logical_and(known);
  auto changed = hunt.flips(at(far));
  for (int64_t i = 0; i < kDoublings && !changed.all().item<bool>(); ++i) {
    near = torch::where(changed, near, far);
    far = torch::where(changed, far, far * 2.0);
    changed = changed.logical_or(hunt.flips(at(far)));
  }
  close_in(near, far, [&](const Tensor& length) { return hunt.flips(at(length)); });
  const auto gone = (at(far) - images).to(torch::kFloat64).flatten(1).square().mean(1).sqrt();
  const auto none = torch::full_like(gone, std::nan(""));
  return {torch::where(changed, gone, none).cpu(), flips.cpu()};
}

Attacked attack_images(const Scores& scores,
                       const Tensor& all_pixels,
                       const AttackOptions& options,
                       int64_t bootstrap_seed,
                       const std::string& device) {
  validate(options);
  const auto seed = derive_seed({static_cast<uint64_t>(bootstrap_seed), kAttackStream});
  const auto chosen = drawn_rows(all_pixels.size(0), options.images, seed);
  const auto pixels = all_pixels.index_select(0, torch::tensor(chosen, torch::kInt64));
  Attacked result;
  Progress progress("attacking", pixels.size(0), "images");
  for (int64_t first = 0; first < pixels.size(0); first += kAttackBatch) {
    const auto batch = pixels.slice(0, first, std::min(first + kAttackBatch, pixels.size(0)));
    const auto images = batch.to(torch::Device(device)).to(torch::kFloat32) / 255.0;
    const auto walk_seed = derive_seed({seed, static_cast<uint64_t>(first)});
    const auto attacked = [&](const Attack& attack, std::vector<metrics::AttackedRow>& rows) {
      append(attack, walk_at_random(scores, images, attack.distortion, walk_seed), rows);
    };
    attacked(attack_by_lbfgs(scores, images, options), result.by_lbfgs);
    attacked(attack_by_carlini_wagner(scores, images, options), result.by_carlini_wagner);
    progress.advance(batch.size(0));
  }
  return result;
}

}  // namespace partwise::judging
