#include "partwise/parts/memory.h"

#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <cmath>
#include <limits>

namespace partwise::parts {
namespace {

// The release's slope of a template: its start and its bounds.
constexpr double kFirstSlope = 2.0;
constexpr double kLeastSlope = 1.5;
constexpr double kMostSlope = 3.0;
constexpr double kSlopeTimesSpread = 3.0;

// A fall over more than about 50 steps is adaptation: decision 0009.
constexpr double kBestMemory = 0.98;

}  // namespace

Tensor own_rows(const Tensor& whole, const tensors::Ranks& ranks) {
  const auto [begin, end] = ranks.share(whole.size(0));
  return whole.slice(0, begin, end);
}

Memory::Memory(int64_t filters, int64_t side, int64_t categories, const PartOptions& options)
    : options_(options),
      distances_(cell_distances(side, options.template_shape).to(torch::kFloat32)),
      squared_distances_(cell_distances(side, TemplateShape::l2).square().to(torch::kFloat32)),
      fixed_templates_(unit_templates(side, options).to(torch::kFloat32)),
      peak_scale_(torch::zeros({filters})),
      scale_seen_(torch::zeros({filters})),
      peak_best_(torch::zeros({filters})),
      squared_spread_(torch::zeros({filters})),
      category_mean_(torch::zeros({categories, filters})),
      category_seen_(torch::zeros({categories})),
      log_partition_(torch::full({options.rule == Rule::paper ? filters : 0, side * side + 1},
                                 -std::numeric_limits<float>::infinity())),
      partition_seen_(torch::zeros({})) {}

Tensor Memory::beside(Tensor& table) const {
  if (table.device() != peak_scale_.device() || table.scalar_type() != peak_scale_.scalar_type())
    table = table.to(peak_scale_.options());
  return table;
}

Tensor Memory::templates() const {
  switch (options_.beta_rule) {
    case BetaRule::fixed:
      return beside(fixed_templates_);
    case BetaRule::learned:
      return unit_templates(beside(distances_), filter_beta());
  }
  return {};
}

Tensor Memory::filter_beta() const {
  if (options_.beta_rule == BetaRule::fixed) return torch::full_like(peak_scale_, options_.beta);
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(distances_.size(0))));
  const auto spread = (squared_spread_ / scale_seen_.clamp_min(kTiny)).clamp_min(kTiny).sqrt();
  const auto slope = (kSlopeTimesSpread / spread).clamp(kLeastSlope, kMostSlope);
  const auto first = torch::full_like(slope, kFirstSlope);
  return torch::where(scale_seen_ > 0, slope, first) * beta_from_slope(1.0, side);
}

Tensor Memory::mean_peak() const {
  return peak_scale_ / scale_seen_.clamp_min(kTiny);
}

Tensor Memory::best_peak() const {
  return peak_best_;
}

Tensor Memory::filter_category() const {
  const auto mean = category_mean_ / category_seen_.clamp_min(kTiny).unsqueeze(1);
  switch (options_.assignment) {
    case Assignment::absolute:
      return mean.argmax(0);
    case Assignment::relative:
      return (mean / mean.mean(1, true).clamp_min(kTiny)).argmax(0);
  }
  return {};
}

Tensor Memory::positives(const Tensor& category) const {
  return category.unsqueeze(1).eq(filter_category().unsqueeze(0));
}

void Memory::see(const Tensor& maps,
                 const Tensor& peaks,
                 const Tensor& category,
                 const tensors::Ranks& ranks) {
  const torch::NoGradGuard no_grad;
  const auto type = peak_scale_.scalar_type();
  const auto own = own_rows(category, ranks);
  const auto flat = maps.flatten(2);
  const auto mass = flat.sum(2);
  // [category, batch]: which images each category's mean is taken over
  const auto members = [&](const Tensor& images) {
    return torch::arange(categories(), images.options()).unsqueeze(1).eq(images).to(type);
  };
  const auto count = members(category).sum(1);
  const auto present = (count > 0).to(type) * (1.0 - options_.category_memory);
  const auto mean = ranks.sum(members(own).matmul(mass)) / count.clamp_min(1).unsqueeze(1);
  category_mean_ += present.unsqueeze(1) * (mean - category_mean_);
  category_seen_ += present * (1.0 - category_seen_);

  const auto images = positives(category).to(type).sum(0);
  const auto positive = positives(own).to(type);
  const auto weight = (images > 0).to(type) * (1.0 - options_.scale_memory);
  const auto remember = [&](const Tensor& memory, const Tensor& per_image) {
    const auto sum = ranks.sum((per_image * positive).sum(0));
    memory.add_(weight * (sum / images.clamp_min(1) - memory));
  };
  remember(peak_scale_, flat.amax(2));
  if (options_.beta_rule == BetaRule::learned) {
    const auto from_peak = templates_at(peaks, beside(squared_distances_));
    remember(squared_spread_, (flat * from_peak).sum(2) / mass.clamp_min(kTiny));
  }
  scale_seen_ += weight * (1.0 - scale_seen_);
  peak_best_.copy_(torch::maximum(peak_best_ * kBestMemory, mean_peak()));
}

// Z as a weighted sum over all maps seen, this batch included: no weight can then exceed
// batch / (1 - memory).
void Memory::see_fits(const Tensor& log_mean) {
  const torch::NoGradGuard no_grad;
  const double memory = options_.partition_memory;
  const auto fresh = log_mean + std::log(1.0 - memory);
  log_partition_.copy_(memory > 0.0 ? torch::logaddexp(log_partition_ + std::log(memory), fresh)
                                    : fresh);
  partition_seen_.mul_(memory).add_(1.0 - memory);
}

Tensor Memory::log_mean_fits() const {
  return log_partition_ - partition_seen_.log();
}

std::vector<std::pair<std::string, Tensor>> Memory::tensors() const {
  std::vector<std::pair<std::string, Tensor>> tensors{
      {"peak_scale", peak_scale_},       {"scale_seen", scale_seen_},
      {"peak_best", peak_best_},         {"squared_spread", squared_spread_},
      {"category_mean", category_mean_}, {"category_seen", category_seen_}};
  if (options_.rule == Rule::paper) {
    tensors.emplace_back("log_partition", log_partition_);
    tensors.emplace_back("partition_seen", partition_seen_);
  }
  return tensors;
}

}  // namespace partwise::parts
