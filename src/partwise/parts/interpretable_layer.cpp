#include "partwise/parts/interpretable_layer.h"

#include "partwise/parts/filter_gradient.h"
#include "partwise/parts/mask.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::parts {
namespace {

constexpr double kTiny = 1e-12;
constexpr double kDead = 1e-3;  // of the layer's median E[max x]

}  // namespace

InterpretableLayer::InterpretableLayer(int64_t filters,
                                       int64_t side,
                                       int64_t categories,
                                       const PartOptions& options)
    : options_(options),
      categories_(categories),
      templates_(unit_templates(side, options).to(torch::kFloat32)),
      peak_scale_(torch::zeros({filters})),
      scale_seen_(torch::zeros({filters})),
      category_mean_(torch::zeros({categories, filters})),
      category_seen_(torch::zeros({categories})),
      ratio_sum_(torch::zeros({})),
      effective_sum_(torch::zeros({})) {}

Tensor InterpretableLayer::mask(const Tensor& maps) const {
  const auto templates = templates_.to(maps.scalar_type());
  return maps * masks_at(peak_cells(maps, options_), templates);
}

Tensor InterpretableLayer::mask_and_learn(const Tensor& maps, const Tensor& category) {
  const auto values = maps.detach().to(torch::kFloat32);
  const auto peaks = peak_cells(values, options_);
  update_statistics(values, category);
  const double strength = options_.strength * strength_factor_;
  if (strength > 0.0 && maps.requires_grad()) {
    const auto seen = scale_seen_.clamp_min(kTiny);
    const auto rule = filter_gradient({values.flatten(2), peaks, positives(category), templates_,
                                       (peak_scale_ / seen).clamp_min(kTiny)},
                                      options_);
    // A cell at 0 is closed by the ReLU below; what cannot pass must not count in the norm.
    const auto pushed = rule.gradient.view_as(values) * (values > 0);
    effective_sum_ += rule.effective_samples;
    ++steps_;
    maps.register_hook([pushed, ratio_sum = ratio_sum_, strength,
                        per_filter = options_.strength_per == "filter"](const Tensor& task) {
      const auto norm = [&](const Tensor& gradient) {
        return per_filter ? gradient.norm(2, {0, 2, 3}, true) : gradient.norm();
      };
      const auto wide = task.to(torch::kFloat32);
      const auto added = pushed * (strength * norm(wide) / norm(pushed).clamp_min(kTiny));
      ratio_sum.add_(added.norm() / wide.norm().clamp_min(kTiny));
      return task + added.to(task.scalar_type());
    });
  }
  return maps * masks_at(peaks, templates_.to(maps.scalar_type()));
}

void InterpretableLayer::update_statistics(const Tensor& maps, const Tensor& category) {
  const torch::NoGradGuard no_grad;
  const auto flat = maps.flatten(2);
  // [category, batch]: which images each category's mean is taken over
  const auto member =
      torch::arange(categories_, category.options()).unsqueeze(1).eq(category).to(torch::kFloat32);
  const auto count = member.sum(1);
  const auto present = (count > 0).to(torch::kFloat32) * (1.0 - options_.category_memory);
  const auto mean = member.matmul(flat.sum(2)) / count.clamp_min(1).unsqueeze(1);
  category_mean_ += present.unsqueeze(1) * (mean - category_mean_);
  category_seen_ += present * (1.0 - category_seen_);

  const auto positive = positives(category).to(torch::kFloat32);
  const auto images = positive.sum(0);
  const auto peak = (flat.amax(2) * positive).sum(0) / images.clamp_min(1);
  const auto weight = (images > 0).to(torch::kFloat32) * (1.0 - options_.scale_memory);
  peak_scale_ += weight * (peak - peak_scale_);
  scale_seen_ += weight * (1.0 - scale_seen_);
}

Tensor InterpretableLayer::filter_category() const {
  return (category_mean_ / category_seen_.clamp_min(kTiny).unsqueeze(1)).argmax(0);
}

Tensor InterpretableLayer::positives(const Tensor& category) const {
  return category.unsqueeze(1).eq(filter_category().unsqueeze(0));
}

std::map<std::string, Tensor> InterpretableLayer::state() const {
  return {{"peak_scale", peak_scale_},
          {"scale_seen", scale_seen_},
          {"category_mean", category_mean_},
          {"category_seen", category_seen_}};
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
  const double steps = std::max<double>(1.0, static_cast<double>(steps_));
  const auto scale = peak_scale_ / scale_seen_.clamp_min(kTiny);
  const LayerDiagnostics result{
      ratio_sum_.item<double>() / steps, effective_sum_.item<double>() / steps,
      (scale <= kDead * scale.median()).to(torch::kFloat64).mean().item<double>()};
  ratio_sum_.zero_();
  effective_sum_.zero_();
  steps_ = 0;
  return result;
}

void InterpretableLayer::to_device(const std::string& device) {
  for (auto* tensor : {&templates_, &peak_scale_, &scale_seen_, &category_mean_, &category_seen_,
                       &ratio_sum_, &effective_sum_}) {
    *tensor = tensor->to(torch::Device(device));
  }
}

}  // namespace partwise::parts
