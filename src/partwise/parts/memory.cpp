#include "partwise/parts/memory.h"

#include "partwise/parts/balanced_assignment.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace partwise::parts {

using kernels::kBestMemory;
using kernels::kCalmGrowth;
using kernels::kEverFired;

namespace {

// The release's slope of a template: its start and its bounds.
constexpr double kFirstSlope = 2.0;
constexpr double kLeastSlope = 1.5;
constexpr double kMostSlope = 3.0;
constexpr double kSlopeTimesSpread = 3.0;

// After these batches filters are assigned anew; after the last they stay.
constexpr std::array<int64_t, 3> kAssignAfter{4, 16, 48};

bool needs_partition(Rule rule) {
  return rule == Rule::paper || rule == Rule::paper_all;
}

}  // namespace

Tensor own_rows(const Tensor& whole, const tensors::Ranks& ranks) {
  const auto [begin, end] = ranks.share(whole.size(0));
  return whole.slice(0, begin, end);
}

Memory::Memory(int64_t filters, int64_t side, int64_t categories, const PartOptions& options)
    : options_(options),
      distances_(cell_distances(side, options.template_shape)),
      squared_distances_(cell_distances(side, TemplateShape::l2).square()),
      fixed_templates_(unit_templates(side, options)),
      peak_scale_(torch::zeros({filters})),
      scale_seen_(torch::zeros({filters})),
      peak_best_(torch::zeros({filters})),
      calm_(torch::zeros({})),
      peak_all_(torch::zeros({filters})),
      all_seen_(torch::zeros({})),
      fit_spread_(torch::zeros({filters})),
      fit_sum_(torch::zeros({filters})),
      category_mean_(torch::zeros({categories, filters})),
      category_seen_(torch::zeros({categories})),
      log_partition_(torch::full({needs_partition(options.rule) ? filters : 0, side * side + 1},
                                 -std::numeric_limits<float>::infinity())),
      partition_seen_(torch::zeros({})),
      assigned_(torch::full({filters}, -1.0F)),
      batches_(torch::zeros({})),
      batches_version_(batches_._version()) {}

// float64 stays as it is in memory, or what is lost on the way to float32 could not come back.
Tensor Memory::beside(Tensor& table) const {
  const c10::InferenceMode off(false);  // what is kept is for training, too
  if (table.device() != peak_scale_.device()) table = table.to(peak_scale_.device());
  return table.to(peak_scale_.scalar_type());
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

Cones Memory::cones() const {
  return {beside(distances_), slopes()};
}

Tensor Memory::slopes() const {
  const auto side = std::sqrt(static_cast<double>(distances_.size(0)));
  if (options_.beta_rule == BetaRule::learned) return (filter_beta() / side).contiguous();
  if (peak_scale_.is_cpu()) return torch::full_like(peak_scale_, options_.beta / side);
  // A GPU's recorded steps read them where they are.
  const c10::InferenceMode off(false);
  if (!fixed_slopes_.defined() || fixed_slopes_.device() != peak_scale_.device() ||
      fixed_slopes_.scalar_type() != peak_scale_.scalar_type())
    fixed_slopes_ = torch::full_like(peak_scale_, options_.beta / side);
  return fixed_slopes_;
}

Tensor Memory::arrived_on_gpu() const {
  const c10::InferenceMode off(false);
  if (!arrived_.defined() || arrived_.device() != peak_scale_.device())
    arrived_ = torch::zeros({2}, peak_scale_.options().dtype(torch::kInt32));
  return arrived_;
}

Tensor Memory::filter_beta() const {
  if (options_.beta_rule == BetaRule::fixed) return torch::full_like(peak_scale_, options_.beta);
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(distances_.size(0))));
  const auto spread = (fit_spread_ / fit_sum_.clamp_min(kTiny)).clamp_min(kTiny);
  const auto slope = (kSlopeTimesSpread / spread).clamp(kLeastSlope, kMostSlope);
  const auto first = torch::full_like(slope, kFirstSlope);
  return torch::where(fit_sum_ > 0, slope, first) * beta_from_slope(1.0, side);
}

Tensor Memory::mean_peak() const {
  return peak_scale_ / scale_seen_.clamp_min(kTiny);
}

Tensor Memory::mean_peak_all() const {
  return peak_all_ / all_seen_.clamp_min(kTiny);
}

Tensor Memory::scale() const {
  return torch::maximum(mean_peak(), mean_peak_all()).clamp_min(kTiny);
}

Tensor Memory::loudness() const {
  return mean_peak().median().clamp_min(kTiny);
}

Tensor Memory::softening() const {
  const auto share = [](const Tensor& value, double none, double all) {
    return ((value - none) / (all - none)).clamp(0.0, 1.0);
  };
  const auto lived = (peak_best_ > kEverFired * peak_best_.median()).to(peak_best_.scalar_type());
  const auto over_lived = [&](const Tensor& value) {
    return (value * lived).sum() / lived.sum().clamp_min(1.0);
  };
  const auto level = over_lived(mean_peak() / peak_best_.clamp_min(kTiny));
  const auto growth = mean_peak().mean() / calm_.clamp_min(kTiny);
  const auto left = share(level, kSick, kSound) * share(growth, kRunaway, kCalm);
  return torch::where(lived.sum() > 0, left, torch::ones_like(left));
}

Tensor Memory::mean_response() const {
  return (category_mean_ / category_seen_.clamp_min(kTiny).unsqueeze(1)).mean(0);
}

Tensor Memory::category_fitness() const {
  const auto mean = category_mean_ / category_seen_.clamp_min(kTiny).unsqueeze(1);
  const auto relative = mean / mean.mean(1, true).clamp_min(kTiny);
  return relative / relative.sum(0, true).clamp_min(kTiny);
}

Tensor Memory::filter_category() const {
  switch (options_.assignment) {
    case Assignment::absolute:
    case Assignment::peak:
      return (category_mean_ / category_seen_.clamp_min(kTiny).unsqueeze(1)).argmax(0);
    case Assignment::relative:
      return category_fitness().argmax(0);
    case Assignment::balanced:
      return torch::where(assigned_ >= 0, assigned_.to(torch::kInt64),
                          category_fitness().argmax(0));
  }
  return {};
}

// A checkpoint may have been read into the tensor since: its version tells.
void Memory::assign_if_due() {
  if (options_.assignment != Assignment::balanced || categories() == 1) return;
  if (batches_version_ != batches_._version()) host_batches_ = batches_.item<int64_t>();
  if (host_batches_ < kAssignAfter.back()) {
    ++host_batches_;
    batches_.add_(1.0);
    if (std::find(kAssignAfter.begin(), kAssignAfter.end(), host_batches_) != kAssignAfter.end()) {
      const auto fitness = category_fitness().to(torch::kFloat64).cpu().contiguous();
      const auto* values = fitness.data_ptr<double>();
      const auto category = balanced_assignment({values, values + fitness.numel()}, categories());
      assigned_.copy_(torch::tensor(category, torch::kInt64));
    }
  }
  batches_version_ = batches_._version();
}

bool Memory::is_assigned() const {
  return options_.assignment != Assignment::balanced || categories() == 1 ||
         (batches_version_ == batches_._version() && host_batches_ >= kAssignAfter.back());
}

Tensor Memory::positives(const Tensor& category) const {
  return category.unsqueeze(1).eq(filter_category().unsqueeze(0));
}

Memory::AroundPeaks Memory::around_peaks(const Tensor& maps, const Tensor& peaks) const {
  const auto squared = beside(squared_distances_);
  if (can_fuse(maps)) return {sums_at(maps, peaks, squared), fits_at(maps, peaks, cones())};
  const auto flat = maps.flatten(2);
  return {(flat * templates_at(peaks, squared)).sum(2),
          (flat * templates_at(peaks, templates())).sum(2)};
}

void Memory::see(const Tensor& maps,
                 const Looks& looks,
                 const Tensor& category,
                 const tensors::Ranks& ranks) {
  const torch::NoGradGuard no_grad;
  if (can_fuse(maps)) return see_by_kernels(maps, looks, category, ranks);
  const auto type = peak_scale_.scalar_type();
  const auto own = own_rows(category, ranks);
  const auto& [peaks, strongest, top, mass, square] = looks;
  // [category, batch]: which images each category's mean is taken over
  const auto members = [&](const Tensor& images) {
    return torch::arange(categories(), images.options()).unsqueeze(1).eq(images).to(type);
  };
  const auto count = members(category).sum(1);
  const auto present = (count > 0).to(type) * (1.0 - options_.category_memory);
  const auto& response = options_.assignment == Assignment::peak ? top : mass;
  const auto mean = ranks.sum(members(own).matmul(response)) / count.clamp_min(1).unsqueeze(1);
  category_mean_ += present.unsqueeze(1) * (mean - category_mean_);
  category_seen_ += present * (1.0 - category_seen_);
  assign_if_due();

  const auto images = positives(category).to(type).sum(0);
  const auto positive = positives(own).to(type);
  const auto weight = (images > 0).to(type) * (1.0 - options_.scale_memory);
  const auto remember = [&](const Tensor& memory, const Tensor& per_image) {
    const auto sum = ranks.sum((per_image * positive).sum(0));
    memory.add_(weight * (sum / images.clamp_min(1) - memory));
  };
  remember(peak_scale_, top);
  if (options_.beta_rule == BetaRule::learned) {
    const auto [squares, fits] = around_peaks(maps, peaks);
    const auto spread = (squares / mass.clamp_min(kTiny)).sqrt();
    const auto fit = fits / static_cast<double>(distances_.size(0));
    remember(fit_spread_, fit * spread);
    remember(fit_sum_, fit);
  }
  scale_seen_ += weight * (1.0 - scale_seen_);
  const double share = 1.0 - options_.scale_memory;
  const auto whole = static_cast<double>(category.size(0));
  peak_all_ += share * (ranks.sum(top.sum(0)) / whole - peak_all_);
  all_seen_ += share * (1.0 - all_seen_);
  peak_best_.copy_(torch::maximum(peak_best_ * kBestMemory, mean_peak()));
  const auto level = mean_peak().mean();
  const auto followed =
      torch::minimum(torch::maximum(level, calm_ / kCalmGrowth), calm_ * kCalmGrowth);
  calm_.copy_(torch::where(calm_ > 0, followed, level));
}

template <class T>
kernels::LayerMemory<T> Memory::view() const {
  const auto at = [](const Tensor& tensor) { return tensor.data_ptr<T>(); };
  return {
      categories(),       at(peak_scale_),
      at(scale_seen_),    at(peak_best_),
      at(calm_),          at(peak_all_),
      at(all_seen_),      at(fit_spread_),
      at(fit_sum_),       at(category_mean_),
      at(category_seen_), options_.assignment == Assignment::balanced ? at(assigned_) : nullptr};
}

namespace {

bool by_share(Assignment assignment) {
  return assignment == Assignment::relative || assignment == Assignment::balanced;
}

}  // namespace

void Memory::see_by_kernels(const Tensor& maps,
                            const Looks& looks,
                            const Tensor& category,
                            const tensors::Ranks& ranks) {
  const auto images = category.size(0);
  const auto of_all = [&](const Tensor& own) {
    return ranks.rows_of_all(own, images).contiguous();
  };
  const auto tops = of_all(looks.tops);
  const auto masses = of_all(looks.masses);
  Tensor spreads;
  Tensor fits;
  if (options_.beta_rule == BetaRule::learned) {
    const auto around = around_peaks(maps, looks.peaks);
    spreads = of_all(around.squares);
    fits = of_all(around.fits / static_cast<double>(distances_.size(0)));
  }
  const kernels::Batch batch{images, maps.size(1), maps.size(2)};
  const auto labels = category.contiguous();
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    const auto at = [](const Tensor& x) { return x.defined() ? x.data_ptr<T>() : nullptr; };
    const auto& table = kernels::layer_kernels<T>();
    const auto* label = labels.data_ptr<int64_t>();
    const auto& response = options_.assignment == Assignment::peak ? tops : masses;
    table.see_categories(batch, label, at(response), options_.category_memory, view<T>());
    assign_if_due();
    std::vector<int64_t> filter_category(static_cast<std::size_t>(batch.filters));
    table.categories(batch.filters, by_share(options_.assignment), view<T>(),
                     filter_category.data());
    table.see_filters(batch, label, filter_category.data(), at(tops), at(masses), at(spreads),
                      at(fits), options_.scale_memory, view<T>());
  };
  maps.scalar_type() == torch::kFloat64 ? run(double{}) : run(float{});
}

Memory::State Memory::state() const {
  const auto filters = peak_scale_.size(0);
  State state{torch::empty({filters}, torch::kInt64), torch::empty_like(peak_scale_),
              torch::empty_like(peak_scale_)};
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    const auto& table = kernels::layer_kernels<T>();
    table.categories(filters, by_share(options_.assignment), view<T>(),
                     state.filter_category.data_ptr<int64_t>());
    kernels::LayerState<T> found{state.mean_peak.data_ptr<T>(), state.scale.data_ptr<T>()};
    table.state(filters, view<T>(), found);
    state.loudness = static_cast<double>(found.loudness);
    state.softening = static_cast<double>(found.softening);
  };
  peak_scale_.scalar_type() == torch::kFloat64 ? run(double{}) : run(float{});
  return state;
}

kernels::GpuMemory Memory::on_gpu() {
  const auto at = [](const Tensor& tensor) { return tensor.data_ptr<float>(); };
  kernels::GpuMemory memory;
  memory.categories = static_cast<int>(categories());
  memory.relative = by_share(options_.assignment);
  memory.category_share = static_cast<float>(1.0 - options_.category_memory);
  memory.scale_share = static_cast<float>(1.0 - options_.scale_memory);
  memory.peak_scale = at(peak_scale_);
  memory.scale_seen = at(scale_seen_);
  memory.peak_best = at(peak_best_);
  memory.calm = at(calm_);
  memory.peak_all = at(peak_all_);
  memory.all_seen = at(all_seen_);
  memory.fit_spread = at(fit_spread_);
  memory.fit_sum = at(fit_sum_);
  memory.category_mean = at(category_mean_);
  memory.category_seen = at(category_seen_);
  if (options_.assignment == Assignment::balanced) memory.assigned = at(assigned_);
  return memory;
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

RunningFits Memory::about_to_see_fits() {
  const torch::NoGradGuard no_grad;
  const double memory = options_.partition_memory;
  partition_seen_.mul_(memory).add_(1.0 - memory);
  return {log_partition_, memory, partition_seen_.item<double>()};
}

Tensor Memory::log_mean_fits() const {
  return log_partition_ - partition_seen_.log();
}

std::vector<std::pair<std::string, Tensor>> Memory::tensors() const {
  std::vector<std::pair<std::string, Tensor>> tensors{
      {"peak_scale", peak_scale_},       {"scale_seen", scale_seen_},
      {"peak_best", peak_best_},         {"calm", calm_},
      {"peak_all", peak_all_},           {"all_seen", all_seen_},
      {"fit_spread", fit_spread_},       {"fit_sum", fit_sum_},
      {"category_mean", category_mean_}, {"category_seen", category_seen_},
      {"assigned", assigned_},           {"batches", batches_}};
  if (needs_partition(options_.rule)) {
    tensors.emplace_back("log_partition", log_partition_);
    tensors.emplace_back("partition_seen", partition_seen_);
  }
  return tensors;
}

void Memory::complete(std::map<std::string, Tensor>& state, const std::string& prefix) {
  const auto at = [&](const char* name) { return state.at(prefix + name); };
  if (!state.contains(prefix + "squared_spread") || state.contains(prefix + "fit_sum")) return;
  const auto seen = at("scale_seen");
  const auto spread = (at("squared_spread") / seen.clamp_min(kTiny)).sqrt();
  state[prefix + "fit_sum"] = seen;
  state[prefix + "fit_spread"] = seen * spread;
  state[prefix + "calm"] = (at("peak_scale") / seen.clamp_min(kTiny)).mean();
  state[prefix + "peak_all"] = at("peak_scale") / seen.clamp_min(kTiny);
  state[prefix + "all_seen"] = torch::ones({});
  state[prefix + "assigned"] = torch::full_like(seen, -1.0);
  state[prefix + "batches"] = torch::zeros({});
}

}  // namespace partwise::parts
