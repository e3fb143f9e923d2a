#include "partwise/parts/filter_push.h"

#include "partwise/parts/keep_alive.h"
#include "partwise/parts/vote.h"
#include "partwise/tensors/torch.h"

namespace partwise::parts {
namespace {

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
// gradient's norm, where it gets one, and the power of E[max x] that weighs the filters.
struct Unit {
  std::vector<int64_t> share_over;
  int power = 2;
};

Unit unit_of(StrengthUnit unit) {
  switch (unit) {
    case StrengthUnit::filter_share:
      return {{0, 2, 3}};
    case StrengthUnit::layer_share:
      return {{0, 1, 2, 3}};
    case StrengthUnit::peak:
      return {{}, 1};
    case StrengthUnit::absolute:
      return {{}, 0};
  }
  return {};
}

// dLoss_f/dx where a cell is active, weighed as the unit asks, and its share of the task gradient.
Tensor filter_part(const FilterGradient& rule,
                   const Tensor& values,
                   const FilterBatch& batch,
                   const Memory& memory,
                   const PartOptions& options) {
  // A cell at 0 is closed by the ReLU below; what cannot pass must not count in the norm.
  auto pushed = rule.gradient.view_as(values) * (values > 0);
  if (options.loudness == Loudness::kept) pushed = without_scaling(pushed, values, batch.ranks);
  switch (unit_of(options.strength_unit).power) {
    case 2:
      return pushed * batch.scale.square().view({1, -1, 1, 1});
    case 1:  // the paper's lambda: E over all images
      return pushed * memory.mean_peak_all().view({1, -1, 1, 1});
    default:
      return pushed;
  }
}

// What raises and lowers peaks, and may pass a closed ReLU.
struct PeakPart {
  Tensor voted;   // [batch, filter, n, n], or undefined
  Lift lift;      // shape [batch, filter, n, n], or undefined
  Tensor closed;  // [batch, filter, n, n] bool: cells at 0
};

PeakPart peak_part(const Push& push,
                   const Tensor& values,
                   const FilterBatch& batch,
                   const Memory& memory,
                   const PartOptions& options,
                   Diagnostics& diagnostics) {
  PeakPart part;
  if (memory.categories() == 1 || (options.vote == 0.0 && options.keep_alive == 0.0)) return part;
  const auto& flat = batch.maps;
  const auto seen =
      push.before_relu.empty()
          ? flat
          : torch::cat(push.before_relu, 1).detach().flatten(2).to(flat.scalar_type());
  const auto cells = seen.argmax(2);
  part.closed = values <= 0;
  if (options.vote > 0.0) {
    const auto tops = flat.amax(2);
    const auto result = vote(tops, memory.filter_category(), push.labels, memory.categories(),
                             memory.loudness(), batch.images, batch.ranks);
    diagnostics.see_vote(result.loss);
    const auto passes = (tops > 0).logical_or(result.gradient < 0);
    const auto gradient = options.vote * result.gradient * passes;
    part.voted = torch::zeros_like(flat)
                     .scatter(2, cells.unsqueeze(2), gradient.unsqueeze(2))
                     .view_as(values);
  }
  if (options.keep_alive > 0.0) {
    part.lift =
        lift(flat, cells, batch.positive, batch.templates, memory.mean_peak(), memory.loudness());
    part.lift.shape = part.lift.shape.view_as(values);
  }
  return part;
}

// Of one backward pass: what the hook at the maps leaves for those before the ReLU.
using Closed = std::shared_ptr<Tensor>;

void open_relu(const std::vector<Tensor>& before_relu, const Closed& closed) {
  int64_t first = 0;
  for (const auto& before : before_relu) {
    const int64_t end = first + before.size(1);
    if (before.requires_grad()) {
      before.register_hook([closed, first, end](const Tensor& gradient) {
        if (!closed->defined()) return gradient;
        return gradient + closed->slice(1, first, end).to(gradient.scalar_type());
      });
    }
    first = end;
  }
}

}  // namespace

Tensor rounded_at_random(const Tensor& values, at::ScalarType type) {
  if (type != torch::kBFloat16 || values.scalar_type() != torch::kFloat32) return values.to(type);
  constexpr int64_t kLostDigits = 1 << 16;
  const auto bits = values.view(torch::kInt32);
  const auto noise = torch::empty_like(bits).random_(0, kLostDigits);
  const auto moved = (bits + noise).bitwise_and(~(kLostDigits - 1)).view(torch::kFloat32);
  return torch::where(values.isfinite(), moved, values).to(type);
}

void push_filters(const Push& push,
                  const Tensor& values,
                  const FilterBatch& batch,
                  const Memory& memory,
                  const PartOptions& options,
                  double strength,
                  Diagnostics& diagnostics) {
  const auto& ranks = batch.ranks;
  const auto rule = filter_gradient(batch, options);
  const auto pushed = filter_part(rule, values, batch, memory, options);
  const auto soft =
      options.guard == Guard::on ? memory.softening() : torch::ones({}, memory.type());
  const auto ratio = diagnostics.see_push(rule.effective_samples, soft);
  const auto peaks = peak_part(push, values, batch, memory, options, diagnostics);
  const auto closed = std::make_shared<Tensor>();
  if (peaks.closed.defined()) open_relu(push.before_relu, closed);
  push.maps.register_hook([pushed, soft, strength, keep_alive = options.keep_alive,
                           share_over = unit_of(options.strength_unit).share_over, peaks, closed,
                           ranks, ratio](const Tensor& task) {
    const auto wide = task.to(pushed.scalar_type());
    auto factor = strength * soft;
    if (!share_over.empty()) {
      factor = factor * norm_over(wide, share_over, ranks) /
               norm_over(pushed, share_over, ranks).clamp_min(kTiny);
    }
    auto added = pushed * factor;
    const auto norm = [&](const Tensor& x) { return norm_over(x, {0, 1, 2, 3}, ranks).squeeze(); };
    ratio.add_(norm(added) / norm(wide).clamp_min(kTiny));
    Tensor raised = peaks.voted;
    if (peaks.lift.shape.defined()) {
      const auto own = norm_over(wide, {0, 2, 3}, ranks);
      const auto reach = torch::maximum(own, own.median());
      const auto length = norm_over(peaks.lift.shape, {0, 2, 3}, ranks).clamp_min(kTiny);
      const auto lifted =
          peaks.lift.shape * (keep_alive * peaks.lift.need.view({1, -1, 1, 1}) * reach / length);
      raised = raised.defined() ? raised + lifted : lifted;
    }
    if (raised.defined()) {
      *closed = raised * peaks.closed;
      added = added + raised;
    }
    return rounded_at_random(wide + added, task.scalar_type());
  });
}

}  // namespace partwise::parts
