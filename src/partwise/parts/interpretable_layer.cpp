#include "partwise/parts/interpretable_layer.h"

#include "partwise/parts/filter_gradient.h"
#include "partwise/parts/filter_loss.h"
#include "partwise/parts/mask.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace partwise::parts {
namespace {

constexpr double kTiny = 1e-12;
constexpr double kDead = 1e-3;  // of the layer's median E[max x]
constexpr int64_t kWatchEvery = 16;

// The release's slope of a template: its start and its bounds.
constexpr double kFirstSlope = 2.0;
constexpr double kLeastSlope = 1.5;
constexpr double kMostSlope = 3.0;
constexpr double kSlopeTimesSpread = 3.0;

// The guard: full strength while the filters' E[max x] is on average above kSound of its best, none
// below kSick.
constexpr double kSound = 0.35;
constexpr double kSick = 0.15;
constexpr double kBestMemory =
    0.98;  // a fall over more than about 50 steps is adaptation: decision 0009

enum Sum { kRatio, kEffective, kSoftening, kSums };

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

}  // namespace

InterpretableLayer::InterpretableLayer(int64_t filters,
                                       int64_t side,
                                       int64_t categories,
                                       const PartOptions& options)
    : options_(options),
      categories_(categories),
      distances_(cell_distances(side, options.template_shape).to(torch::kFloat32)),
      squared_distances_(cell_distances(side, "l2").square().to(torch::kFloat32)),
      fixed_templates_(unit_templates(side, options).to(torch::kFloat32)),
      peak_scale_(torch::zeros({filters})),
      scale_seen_(torch::zeros({filters})),
      peak_best_(torch::zeros({filters})),
      squared_spread_(torch::zeros({filters})),
      category_mean_(torch::zeros({categories, filters})),
      category_seen_(torch::zeros({categories})),
      log_partition_(torch::full({options.rule == "paper" ? filters : 0, side * side + 1},
                                 -std::numeric_limits<float>::infinity())),
      partition_seen_(torch::zeros({})),
      sums_(torch::zeros({kSums})),
      loss_sums_(torch::zeros({4}, torch::kFloat64)) {}

Tensor InterpretableLayer::templates() const {
  if (options_.beta_rule == "fixed") return fixed_templates_;
  return unit_templates(distances_, filter_beta());
}

Tensor InterpretableLayer::filter_beta() const {
  if (options_.beta_rule == "fixed") return torch::full_like(peak_scale_, options_.beta);
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(distances_.size(0))));
  const auto spread = (squared_spread_ / scale_seen_.clamp_min(kTiny)).clamp_min(kTiny).sqrt();
  const auto slope = (kSlopeTimesSpread / spread).clamp(kLeastSlope, kMostSlope);
  const auto first = torch::full_like(slope, kFirstSlope);
  return torch::where(scale_seen_ > 0, slope, first) * beta_from_slope(1.0, side);
}

Tensor InterpretableLayer::mask(const Tensor& maps) const {
  return maps * masks_at(peak_cells(maps, options_), templates()).to(maps.scalar_type());
}

Tensor InterpretableLayer::mask_and_learn(const Tensor& maps, const Tensor& category) {
  TORCH_CHECK(maps.size(0) == own_rows(category).size(0),
              "category must be the whole batch's: rank ", ranks_.rank(), " has ", maps.size(0),
              " maps of ", category.size(0), " images");
  const auto type = peak_scale_.scalar_type();
  const auto values = maps.detach().to(type);
  const auto peaks = peak_cells(maps, options_);
  update_statistics(values, peaks, category);
  const auto shapes = templates();
  if (steps_ % kWatchEvery == 0) watch_loss(values.flatten(2), shapes);
  ++steps_;
  const double strength = options_.strength * strength_factor_;
  if (strength > 0.0 && maps.requires_grad()) {
    const auto scale = (peak_scale_ / scale_seen_.clamp_min(kTiny)).clamp_min(kTiny);
    FilterBatch batch{
        values.flatten(2), peaks, positives(own_rows(category)), shapes, scale, {}, ranks_,
        category.size(0)};
    if (options_.rule == "paper") {
      update_partition(log_mean_fits(batch, options_));
      batch.log_partition = log_partition_ - partition_seen_.log();
    }
    const auto rule = filter_gradient(batch, options_);
    // A cell at 0 is closed by the ReLU below; what cannot pass must not count in the norm.
    auto pushed = rule.gradient.view_as(values) * (values > 0);
    if (options_.loudness == "kept") pushed = without_scaling(pushed, values, ranks_);
    const auto& unit = options_.strength_unit;
    if (unit != "absolute") pushed = pushed * scale.view({1, -1, 1, 1});
    const auto soft = softening();
    ++pushes_;
    sums_[kEffective] += rule.effective_samples;
    sums_[kSoftening] += soft;
    maps.register_hook([pushed, soft, strength, unit, type, ranks = ranks_,
                        ratio = sums_[kRatio]](const Tensor& task) {
      const auto wide = task.to(type);
      auto factor = strength * soft;
      if (unit == "filter-share" || unit == "layer-share") {
        const auto dimensions = unit == "filter-share" ? std::vector<int64_t>{0, 2, 3}
                                                       : std::vector<int64_t>{0, 1, 2, 3};
        factor = factor * norm_over(wide, dimensions, ranks) /
                 norm_over(pushed, dimensions, ranks).clamp_min(kTiny);
      }
      const auto added = pushed * factor;
      const auto norm = [&](const Tensor& x) {
        return norm_over(x, {0, 1, 2, 3}, ranks).squeeze();
      };
      ratio.add_(norm(added) / norm(wide).clamp_min(kTiny));
      return task + added.to(task.scalar_type());
    });
  }
  return maps * masks_at(peaks, shapes).to(maps.scalar_type());
}

void InterpretableLayer::update_statistics(const Tensor& maps,
                                           const Tensor& peaks,
                                           const Tensor& category) {
  const torch::NoGradGuard no_grad;
  const auto type = peak_scale_.scalar_type();
  const auto flat = maps.flatten(2);
  const auto mass = flat.sum(2);
  // [category, batch]: which images each category's mean is taken over
  const auto members = [&](const Tensor& images) {
    return torch::arange(categories_, images.options()).unsqueeze(1).eq(images).to(type);
  };
  const auto count = members(category).sum(1);
  const auto present = (count > 0).to(type) * (1.0 - options_.category_memory);
  const auto mean =
      ranks_.sum(members(own_rows(category)).matmul(mass)) / count.clamp_min(1).unsqueeze(1);
  category_mean_ += present.unsqueeze(1) * (mean - category_mean_);
  category_seen_ += present * (1.0 - category_seen_);

  const auto images = positives(category).to(type).sum(0);
  const auto positive = positives(own_rows(category)).to(type);
  const auto weight = (images > 0).to(type) * (1.0 - options_.scale_memory);
  const auto remember = [&](const Tensor& memory, const Tensor& per_image) {
    const auto sum = ranks_.sum((per_image * positive).sum(0));
    memory.add_(weight * (sum / images.clamp_min(1) - memory));
  };
  remember(peak_scale_, flat.amax(2));
  if (options_.beta_rule == "learned") {
    const auto from_peak = templates_at(peaks, squared_distances_);
    remember(squared_spread_, (flat * from_peak).sum(2) / mass.clamp_min(kTiny));
  }
  scale_seen_ += weight * (1.0 - scale_seen_);
  const auto scale = peak_scale_ / scale_seen_.clamp_min(kTiny);
  peak_best_.copy_(torch::maximum(peak_best_ * kBestMemory, scale));
}

// Z as a weighted sum over all maps seen, this batch included: no weight can then exceed
// batch / (1 - memory).
void InterpretableLayer::update_partition(const Tensor& log_mean) {
  const torch::NoGradGuard no_grad;
  const double memory = options_.partition_memory;
  const auto fresh = log_mean + std::log(1.0 - memory);
  log_partition_.copy_(memory > 0.0 ? torch::logaddexp(log_partition_ + std::log(memory), fresh)
                                    : fresh);
  partition_seen_.mul_(memory).add_(1.0 - memory);
}

void InterpretableLayer::watch_loss(const Tensor& maps, const Tensor& shapes) {
  const torch::NoGradGuard no_grad;
  const auto cells = static_cast<double>(maps.size(2));
  auto likelihood = paper_likelihood(std::llround(std::sqrt(cells)));
  likelihood.tau = 1.0 / (temperature_of(options_) * cells);
  const auto scale = (peak_scale_ / scale_seen_.clamp_min(kTiny)).clamp_min(kTiny);
  const auto seen = options_.exponent == "raw" ? maps : maps / scale.view({1, -1, 1});
  const auto terms = filter_loss(seen, shapes, likelihood, ranks_);
  loss_sums_ += torch::stack({terms.loss.mean(), terms.prior_entropy.mean(),
                              terms.category_entropy.mean(), terms.spatial_entropy.mean()});
  ++watched_;
}

// [] in [0, 1]
Tensor InterpretableLayer::softening() const {
  if (options_.guard == "off") return torch::ones({}, peak_scale_.options());
  const auto scale = peak_scale_ / scale_seen_.clamp_min(kTiny);
  const auto level = (scale / peak_best_.clamp_min(kTiny)).mean();
  return ((level - kSick) / (kSound - kSick)).clamp(0.0, 1.0);
}

Tensor InterpretableLayer::filter_category() const {
  const auto mean = category_mean_ / category_seen_.clamp_min(kTiny).unsqueeze(1);
  if (options_.assignment == "absolute") return mean.argmax(0);
  return (mean / mean.mean(1, true).clamp_min(kTiny)).argmax(0);
}

Tensor InterpretableLayer::own_rows(const Tensor& category) const {
  const auto [begin, end] = ranks_.share(category.size(0));
  return category.slice(0, begin, end);
}

Tensor InterpretableLayer::positives(const Tensor& category) const {
  return category.unsqueeze(1).eq(filter_category().unsqueeze(0));
}

std::map<std::string, Tensor> InterpretableLayer::state() const {
  std::map<std::string, Tensor> state{
      {"peak_scale", peak_scale_},       {"scale_seen", scale_seen_},
      {"peak_best", peak_best_},         {"squared_spread", squared_spread_},
      {"category_mean", category_mean_}, {"category_seen", category_seen_}};
  if (options_.rule == "paper") {
    state.emplace("log_partition", log_partition_);
    state.emplace("partition_seen", partition_seen_);
  }
  return state;
}

void InterpretableLayer::load_state(const std::map<std::string, Tensor>& state) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : this->state()) {
    const auto found = state.find(name);
    ensure(found != state.end() && found->second.sizes() == tensor.sizes(),
           "checkpoint lacks '{}' of an interpretable layer, or has it in another shape", name);
    tensor.copy_(found->second);
  }
}

LayerDiagnostics InterpretableLayer::take_diagnostics() {
  const auto terms = (loss_sums_ / std::max<double>(1.0, static_cast<double>(watched_))).cpu();
  const auto means =
      (sums_.to(torch::kFloat64) / std::max<double>(1.0, static_cast<double>(pushes_))).cpu();
  const auto scale = peak_scale_ / scale_seen_.clamp_min(kTiny);
  const auto counts = torch::bincount(filter_category().cpu(), {}, categories_);
  LayerDiagnostics result;
  result.loss = terms[0].item<double>();
  result.prior_entropy = terms[1].item<double>();
  result.category_entropy = terms[2].item<double>();
  result.spatial_entropy = terms[3].item<double>();
  result.gradient_ratio = means[kRatio].item<double>();
  result.effective_samples = means[kEffective].item<double>();
  if (pushes_ > 0) result.softening = means[kSoftening].item<double>();
  result.mean_peak = scale.to(torch::kFloat64).mean().item<double>();
  result.dead_share = (scale <= kDead * scale.median()).to(torch::kFloat64).mean().item<double>();
  result.filters_per_category = {counts.data_ptr<int64_t>(),
                                 counts.data_ptr<int64_t>() + counts.numel()};
  sums_.zero_();
  loss_sums_.zero_();
  steps_ = 0;
  pushes_ = 0;
  watched_ = 0;
  return result;
}

std::vector<Tensor*> InterpretableLayer::all_tensors() {
  return {&distances_,     &squared_distances_, &fixed_templates_, &peak_scale_,
          &scale_seen_,    &peak_best_,         &squared_spread_,  &category_mean_,
          &category_seen_, &log_partition_,     &partition_seen_,  &sums_,
          &loss_sums_};
}

Tensor InterpretableLayer::diagnostic_sums() const {
  const auto counts = torch::tensor({steps_, pushes_, watched_}, torch::kInt64);
  return torch::cat(
      {sums_.cpu().to(torch::kFloat64), loss_sums_.cpu(), counts.to(torch::kFloat64)});
}

void InterpretableLayer::load_diagnostic_sums(const Tensor& sums) {
  const torch::NoGradGuard no_grad;
  const auto sizes = {sums_.numel(), loss_sums_.numel(), int64_t{3}};
  const auto parts = sums.split_with_sizes(std::vector<int64_t>(sizes));
  sums_.copy_(parts[0]);
  loss_sums_.copy_(parts[1]);
  steps_ = parts[2][0].item<int64_t>();
  pushes_ = parts[2][1].item<int64_t>();
  watched_ = parts[2][2].item<int64_t>();
}

void InterpretableLayer::to_device(const std::string& device) {
  for (auto* tensor : all_tensors()) *tensor = tensor->to(torch::Device(device));
}

void InterpretableLayer::to_type(at::ScalarType type) {
  for (auto* tensor : all_tensors()) *tensor = tensor->to(type);
}

}  // namespace partwise::parts
