#include "partwise/parts/filter_push.h"

#include "partwise/tensors/torch.h"

namespace partwise::parts {
namespace {

// The guard: full strength while the filters' E[max x] is on average above kSound of its best, none
// below kSick.
constexpr double kSound = 0.35;
constexpr double kSick = 0.15;

// [] in [0, 1]
Tensor softening(const Memory& memory, Guard guard) {
  if (guard == Guard::off) return torch::ones({}, memory.type());
  const auto level = (memory.mean_peak() / memory.best_peak().clamp_min(kTiny)).mean();
  return ((level - kSick) / (kSound - kSick)).clamp(0.0, 1.0);
}

// Over these dimensions and all ranks.
Tensor norm_over(const Tensor& values, at::IntArrayRef dimensions, const tensors::Ranks& ranks) {
  const auto own = values.norm(2, dimensions, true);
  return ranks.alone() ? own : ranks.sum(own.square()).sqrt();
}

// Without what scales a filter's maps, all of the batch's alike: <result, maps> = 0 for each
// filter.
Tensor without_scaling(const Tensor& push, const Tensor& maps, const tensors::Ranks& ranks) {
  const auto over = [&](const Tensor& values) {
    return ranks.sum(values.sum(at::IntArrayRef({0, 2, 3}), true));
  };
  return push - maps * (over(push * maps) / over(maps.square()).clamp_min(kTiny));
}

// What a unit makes of dLoss_f/dx: the dimensions over which the push gets a share of the task
// gradient's norm, where it gets one, and whether filters are weighed by E[max x].
struct Unit {
  std::vector<int64_t> share_over;
  bool by_peak = true;
};

Unit unit_of(StrengthUnit unit) {
  switch (unit) {
    case StrengthUnit::filter_share:
      return {{0, 2, 3}};
    case StrengthUnit::layer_share:
      return {{0, 1, 2, 3}};
    case StrengthUnit::peak:
      return {};
    case StrengthUnit::absolute:
      return {{}, false};
  }
  return {};
}

}  // namespace

void push_filters(const Tensor& maps,
                  const Tensor& values,
                  const FilterBatch& batch,
                  const Memory& memory,
                  const PartOptions& options,
                  double strength,
                  Diagnostics& diagnostics) {
  const auto& ranks = batch.ranks;
  const auto unit = unit_of(options.strength_unit);
  const auto rule = filter_gradient(batch, options);
  // A cell at 0 is closed by the ReLU below; what cannot pass must not count in the norm.
  auto pushed = rule.gradient.view_as(values) * (values > 0);
  if (options.loudness == Loudness::kept) pushed = without_scaling(pushed, values, ranks);
  if (unit.by_peak) pushed = pushed * batch.scale.view({1, -1, 1, 1});
  const auto soft = softening(memory, options.guard);
  const auto ratio = diagnostics.see_push(rule.effective_samples, soft);
  maps.register_hook([pushed, soft, strength, share_over = unit.share_over, ranks,
                      ratio](const Tensor& task) {
    const auto wide = task.to(pushed.scalar_type());
    auto factor = strength * soft;
    if (!share_over.empty()) {
      factor = factor * norm_over(wide, share_over, ranks) /
               norm_over(pushed, share_over, ranks).clamp_min(kTiny);
    }
    const auto added = pushed * factor;
    const auto norm = [&](const Tensor& x) { return norm_over(x, {0, 1, 2, 3}, ranks).squeeze(); };
    ratio.add_(norm(added) / norm(wide).clamp_min(kTiny));
    return task + added.to(task.scalar_type());
  });
}

}  // namespace partwise::parts
