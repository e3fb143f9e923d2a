#include "partwise/judging/attack_findings.h"

#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <numeric>

namespace partwise::judging {
namespace {

constexpr uint64_t kAttackStream = 0x61747461;
constexpr int64_t kBatch = 16;

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
  for (int64_t first = 0; first < pixels.size(0); first += kBatch) {
    const auto batch = pixels.slice(0, first, std::min(first + kBatch, pixels.size(0)));
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
