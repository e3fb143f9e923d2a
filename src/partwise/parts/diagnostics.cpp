#include "partwise/parts/diagnostics.h"

#include "partwise/parts/filter_gradient.h"
#include "partwise/parts/filter_loss.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>

namespace partwise::parts {
namespace {

constexpr double kDead = 1e-3;  // of the layer's median E[max x]
constexpr int64_t kWatchEvery = 16;

enum Sum { kRatio, kEffective, kSoftening, kVote, kSums };

// A filter is silent below this share of a strong one's E[max x].
constexpr double kSilent = 0.05;

// The median of the strongest quarter.
Tensor strong_peak(const Tensor& peaks) {
  const auto quarter = std::max<int64_t>(1, (peaks.numel() + 3) / 4);
  return std::get<0>(peaks.topk(quarter)).median();
}

FilterLoss loss_terms(const Tensor& maps,
                      const Memory& memory,
                      const PartOptions& options,
                      const tensors::Ranks& ranks) {
  const auto cells = static_cast<double>(maps.size(2));
  const double tau = 1.0 / (temperature_of(options) * cells);
  if (can_fuse(maps)) {
    const auto scale = memory.scale();
    const auto unit = options.exponent == Exponent::raw ? torch::ones_like(scale) : scale;
    return loss_by_kernels(maps, memory.cones(), options.template_shape, tau / unit, ranks);
  }
  auto likelihood = paper_likelihood(std::llround(std::sqrt(cells)));
  likelihood.tau = tau;
  const auto seen = exponent_maps(maps, memory.scale(), options.exponent);
  return filter_loss(seen, memory.templates(), likelihood, ranks);
}

double at_least_one(int64_t count) {
  return std::max<double>(1.0, static_cast<double>(count));
}

}  // namespace

Diagnostics::Diagnostics()
    : push_sums_(torch::zeros({kSums})), loss_sums_(torch::zeros({4}, torch::kFloat64)) {}

bool Diagnostics::watches_next() const {
  return steps_ % kWatchEvery == 0;
}

void Diagnostics::see(const Tensor& maps,
                      const Memory& memory,
                      const PartOptions& options,
                      const tensors::Ranks& ranks) {
  const torch::NoGradGuard no_grad;
  if (!watches_next()) return see_means({}, memory);
  const auto terms = loss_terms(maps, memory, options, ranks);
  see_means(torch::stack({terms.loss.mean(), terms.prior_entropy.mean(),
                          terms.category_entropy.mean(), terms.spatial_entropy.mean()}),
            memory);
}

void Diagnostics::begin_batch(const Memory& memory) {
  push_sums_ = push_sums_.to(memory.type());
  loss_sums_ = loss_sums_.to(memory.type().device());
  pushed_ = false;
}

void Diagnostics::set_since() {
  if (since_.defined()) since_.fill_(static_cast<double>(steps_ % kWatchEvery));
}

void Diagnostics::see_means(const Tensor& means, const Memory& memory) {
  begin_batch(memory);
  ++steps_;
  set_since();
  if (!means.defined()) return;
  loss_sums_ += means;
  ++watched_;
}

GpuWatching Diagnostics::watch_on_gpu(const Memory& memory) {
  begin_batch(memory);
  if (!since_.defined() || since_.device() != loss_sums_.device()) {
    since_ = torch::empty({1}, memory.type());
    set_since();
  }
  if (watches_next()) ++watched_;
  ++steps_;
  return {loss_sums_, since_, kWatchEvery};
}

Tensor Diagnostics::see_push(const Tensor& effective_samples, const Tensor& softening) {
  ++pushes_;
  pushed_ = true;
  push_sums_[kEffective] += effective_samples;
  push_sums_[kSoftening] += softening;
  return push_sums_[kRatio];
}

void Diagnostics::repeat() {
  if (watches_next()) ++watched_;
  ++steps_;
  if (pushed_) ++pushes_;
}

Tensor Diagnostics::count_push() {
  ++pushes_;
  pushed_ = true;
  return push_sums_;
}

void Diagnostics::see_vote(const Tensor& loss) {
  push_sums_[kVote] += loss;
}

LayerDiagnostics Diagnostics::take(const Memory& memory) {
  const auto terms = (loss_sums_ / at_least_one(watched_)).cpu();
  const auto means = (push_sums_.to(torch::kFloat64) / at_least_one(pushes_)).cpu();
  const auto scale = memory.mean_peak();
  const auto counts = torch::bincount(memory.filter_category().cpu(), {}, memory.categories());
  LayerDiagnostics result;
  result.loss = terms[0].item<double>();
  result.prior_entropy = terms[1].item<double>();
  result.category_entropy = terms[2].item<double>();
  result.spatial_entropy = terms[3].item<double>();
  result.gradient_ratio = means[kRatio].item<double>();
  result.effective_samples = means[kEffective].item<double>();
  if (pushes_ > 0) result.softening = means[kSoftening].item<double>();
  result.mean_peak = scale.to(torch::kFloat64).mean().item<double>();
  result.vote = means[kVote].item<double>();
  result.silent_share = (scale < kSilent * strong_peak(scale))
                            .logical_or(scale <= 0)
                            .to(torch::kFloat64)
                            .mean()
                            .item<double>();
  const auto response = memory.mean_response().to(torch::kFloat64);
  result.effective_filters =
      (response.sum().square() / response.square().sum().clamp_min(kTiny * kTiny)).item<double>();
  result.dead_share = (scale <= kDead * scale.median()).to(torch::kFloat64).mean().item<double>();
  result.filters_per_category = {counts.data_ptr<int64_t>(),
                                 counts.data_ptr<int64_t>() + counts.numel()};
  push_sums_.zero_();
  loss_sums_.zero_();
  steps_ = 0;
  pushes_ = 0;
  watched_ = 0;
  set_since();
  return result;
}

Tensor Diagnostics::sums() const {
  const auto counts = torch::tensor({steps_, pushes_, watched_}, torch::kInt64);
  return torch::cat(
      {push_sums_.cpu().to(torch::kFloat64), loss_sums_.cpu(), counts.to(torch::kFloat64)});
}

void Diagnostics::load(const Tensor& sums) {
  const torch::NoGradGuard no_grad;
  const auto sizes = {push_sums_.numel(), loss_sums_.numel(), int64_t{3}};
  const auto parts = sums.split_with_sizes(std::vector<int64_t>(sizes));
  push_sums_.copy_(parts[0]);
  loss_sums_.copy_(parts[1]);
  steps_ = parts[2][0].item<int64_t>();
  pushes_ = parts[2][1].item<int64_t>();
  watched_ = parts[2][2].item<int64_t>();
  set_since();
}

}  // namespace partwise::parts
