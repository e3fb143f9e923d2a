#include "partwise/parts/filter_gradient.h"

#include "partwise/tensors/torch.h"

#include <limits>

namespace partwise::parts {
namespace {

constexpr double kLargestWeight = 10.0;

Tensor where_else(const Tensor& condition, const Tensor& value, double otherwise) {
  return torch::where(condition, value, torch::full_like(value, otherwise));
}

// log-mean-exp over the chosen images, [1, filter]; 0 where none is chosen.
Tensor log_mean_exp(const Tensor& exponent, const Tensor& chosen, const Tensor& count) {
  const auto masked = where_else(chosen, exponent, -std::numeric_limits<double>::infinity());
  const auto value = masked.logsumexp(0, true) - count.clamp_min(1).log();
  return where_else(count > 0, value, 0.0);
}

// w ~ max(e^u (u - log Z + 1), 0) with mean 1 over the chosen images, [batch, filter]; 0 elsewhere.
Tensor normalised_weights(const Tensor& u, const Tensor& log_z, const Tensor& chosen) {
  const auto count = chosen.sum(0, true).to(u.scalar_type());
  const auto top = where_else(chosen, u, -std::numeric_limits<double>::infinity()).amax(0, true);
  const auto safe_top = where_else(count > 0, top, 0.0);
  const auto fit = (u - safe_top).clamp_max(0.0).exp() * (u - log_z + 1.0).clamp_min(0.0);
  const auto raw = where_else(chosen, fit, 0.0);
  const auto mean = raw.sum(0, true) / count.clamp_min(1);
  const auto weights = (raw / where_else(mean > 0, mean, 1.0)).clamp_max(kLargestWeight);
  return torch::where(mean > 0, weights, torch::ones_like(weights)) * chosen;
}

Tensor effective_share(const Tensor& weights, const Tensor& chosen) {
  const auto count = chosen.sum(0).to(weights.scalar_type());
  const auto squares = weights.square().sum(0);
  const auto share = weights.abs().sum(0).square() / squares.clamp_min(1e-30) / count.clamp_min(1);
  const auto present = (count > 0).to(weights.scalar_type());
  return (share * present).sum() / present.sum().clamp_min(1);
}

}  // namespace

FilterGradient filter_gradient(const FilterBatch& batch, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto& positive = batch.positive;
  const auto negative = positive.logical_not();
  const auto scaled = batch.maps / batch.scale.view({1, -1, 1});
  const auto own = batch.templates.index_select(0, batch.peaks.flatten()).view_as(scaled);
  const auto fit = [&](const Tensor& part) {
    return (scaled * part).mean(2) / options.temperature;
  };
  const auto silence = -scaled.mean(2) / options.temperature;

  const auto positives = positive.sum(0, true).to(scaled.scalar_type());
  const auto negatives = negative.sum(0, true).to(scaled.scalar_type());
  const auto log_z = log_mean_exp(fit(own.flip({0, 1})), positive, positives);
  const auto log_z_silent = log_mean_exp(silence, negative, negatives);
  const auto pull = normalised_weights(fit(own), log_z, positive);
  const auto push = normalised_weights(silence, log_z_silent, negative);

  const auto size = static_cast<double>(batch.maps.size(0));
  const auto pull_share = pull * (0.5 * size / positives.clamp_min(1)) * batch.scale;
  const auto push_share = push * (0.5 * size / negatives.clamp_min(1)) * batch.scale;
  return {push_share.unsqueeze(2) - pull_share.unsqueeze(2) * own, effective_share(pull, positive)};
}

}  // namespace partwise::parts
