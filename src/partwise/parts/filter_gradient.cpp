#include "partwise/parts/filter_gradient.h"

#include "partwise/parts/filter_loss.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <cmath>
#include <limits>

namespace partwise::parts {
namespace {

constexpr double kLargestWeight = 10.0;
constexpr double kVanishingMean = 1e-3;  // of the largest weight

Tensor where_else(const Tensor& condition, const Tensor& value, double otherwise) {
  return torch::where(condition, value, torch::full_like(value, otherwise));
}

// tr(x^ T_mu) for every mu, mu^- last: [batch, filter, n*n + 1]
Tensor all_fits(const Tensor& maps, const Tensor& templates, double temperature) {
  const auto fits = template_fits(maps, templates.to(maps.scalar_type()));
  return torch::cat({fits, -maps.sum(2, true)}, 2) /
         (temperature * static_cast<double>(maps.size(2)));
}

// Some images of each filter.
struct Choice {
  Tensor images;  // [batch, filter] bool
  Tensor count;   // [1, filter], of the maps' type: on all ranks
};

struct Choices {
  Choice positive;
  Choice negative;
};

Choices choices_of(const FilterBatch& batch, torch::ScalarType type) {
  const auto count = batch.ranks.sum(batch.positive.sum(0, true)).to(type);
  return {{batch.positive, count},
          {batch.positive.logical_not(), static_cast<double>(batch.images) - count}};
}

// The factor omega+ or omega- of each image, 0 for one that is not chosen.
Tensor balanced(const Choice& choice, const FilterBatch& batch, Balance balance) {
  const auto chosen = choice.images.to(choice.count.scalar_type());
  if (balance == Balance::none) return chosen;
  return chosen * (0.5 * static_cast<double>(batch.images)) / choice.count.clamp_min(1.0);
}

Tensor effective_share(const Tensor& weights, const Choice& choice, const tensors::Ranks& ranks) {
  const auto own = weights * choice.images;
  const auto sums = ranks.sum(torch::stack({own.abs().sum(0), own.square().sum(0)}));
  const auto count = choice.count.squeeze(0);
  const auto share = sums[0].square() / sums[1].clamp_min(1e-30) / count.clamp_min(1);
  const auto present = (count > 0).to(weights.scalar_type());
  return (share * present).sum() / present.sum().clamp_min(1);
}

// log-mean-exp over the chosen images, [1, filter]; 0 where none is chosen.
Tensor log_mean_exp(const Tensor& exponent, const Choice& choice, const tensors::Ranks& ranks) {
  const auto masked = where_else(choice.images, exponent, -std::numeric_limits<double>::infinity());
  const auto log_sum = ranks.logsumexp(masked.logsumexp(0, true));
  return where_else(choice.count > 0, log_sum - choice.count.clamp_min(1).log(), 0.0);
}

// The release's w over the chosen images, [batch, filter]; 0 elsewhere.
Tensor release_weights(const Tensor& u,
                       const Tensor& log_z,
                       const Choice& choice,
                       bool ignore,
                       const tensors::Ranks& ranks) {
  const auto own_top =
      where_else(choice.images, u, -std::numeric_limits<double>::infinity()).amax(0, true);
  const auto safe_top = where_else(choice.count > 0, ranks.max(own_top), 0.0);
  auto gain = u - log_z + 1.0;
  if (ignore) gain = gain.clamp_min(0.0);
  const auto raw = where_else(choice.images, (u - safe_top).clamp_max(0.0).exp() * gain, 0.0);
  const auto mean = ranks.sum(raw.sum(0, true)) / choice.count.clamp_min(1);
  const auto sound = mean.abs() > kVanishingMean * ranks.max(raw.abs().amax(0, true));
  const auto weights = (raw / where_else(sound, mean, 1.0)).clamp(-kLargestWeight, kLargestWeight);
  return torch::where(sound, weights, torch::ones_like(weights)) * choice.images;
}

// For every map the template of another image's and another filter's peak: both counted from the
// far end, through all ranks.  [batch, filter, n*n]
Tensor foreign_templates(const FilterBatch& batch, const Tensor& templates) {
  const auto [begin, end] = batch.ranks.share(batch.images);
  const auto all = batch.ranks.rows_of_all(batch.peaks, batch.images);
  return templates_at(all.flip({0}).slice(0, begin, end), templates).flip({1});
}

FilterGradient paper_rule(const FilterBatch& batch,
                          const Tensor& maps,
                          const PartOptions& options) {
  const auto cells = maps.size(2);
  const double temperature = temperature_of(options);
  const auto own = templates_at(batch.peaks, batch.templates.to(maps.scalar_type()));
  const auto silent = torch::full_like(batch.peaks, cells);
  const auto target = torch::where(batch.positive, batch.peaks, silent);
  const auto u = torch::where(batch.positive, (maps * own).mean(2), -maps.mean(2)) / temperature;
  const auto log_mean = batch.log_partition.to(maps.scalar_type())
                            .unsqueeze(0)
                            .expand({maps.size(0), -1, -1})
                            .gather(2, target.unsqueeze(2))
                            .squeeze(2);
  // Z holds this batch with weight 1 - memory, hence the bound; only rounding can exceed it.
  const double most =
      std::log(static_cast<double>(batch.images) / (1.0 - options.partition_memory));
  const auto v = (u - log_mean).clamp_max(most);
  auto weight = v.exp() * v;
  if (options.misfits == Misfits::ignored) weight = weight.clamp_min(0.0);
  const auto [positive, negative] = choices_of(batch, maps.scalar_type());
  const double prior = 1.0 / static_cast<double>(cells + 1);
  const double tau = 1.0 / (temperature * static_cast<double>(cells));
  const double factor = prior * tau / static_cast<double>(batch.images);
  const auto pull = (weight * balanced(positive, batch, options.balance)).unsqueeze(2) * own;
  const auto push = (weight * balanced(negative, batch, options.balance)).unsqueeze(2);
  return {factor * (push - pull), effective_share(weight, positive, batch.ranks)};
}

FilterGradient release_rule(const FilterBatch& batch,
                            const Tensor& maps,
                            const PartOptions& options) {
  const auto& ranks = batch.ranks;
  const auto [positive, negative] = choices_of(batch, maps.scalar_type());
  const double temperature = temperature_of(options);
  const bool ignore = options.misfits == Misfits::ignored;
  const auto templates = batch.templates.to(maps.scalar_type());
  const auto own = templates_at(batch.peaks, templates);
  const auto fit = [&](const Tensor& part) { return (maps * part).mean(2) / temperature; };
  const auto silence = -maps.mean(2) / temperature;
  const auto log_z = log_mean_exp(fit(foreign_templates(batch, templates)), positive, ranks);
  const auto log_z_silent = log_mean_exp(silence, negative, ranks);
  const auto pull = release_weights(fit(own), log_z, positive, ignore, ranks);
  const auto push = release_weights(silence, log_z_silent, negative, ignore, ranks);
  const auto plus = balanced(positive, batch, options.balance);
  const auto minus = balanced(negative, batch, options.balance);
  const auto gradient = (push * minus).unsqueeze(2) - (pull * plus).unsqueeze(2) * own;
  return {gradient / static_cast<double>(batch.images), effective_share(pull, positive, ranks)};
}

FilterGradient exact_rule(const FilterBatch& batch,
                          const Tensor& maps,
                          const PartOptions& options) {
  const auto cells = static_cast<double>(maps.size(2));
  auto likelihood = paper_likelihood(std::llround(std::sqrt(cells)));
  likelihood.tau = 1.0 / (temperature_of(options) * cells);
  const auto gradient =
      filter_loss_gradient(maps, batch.templates, likelihood, Frozen::nothing, batch.ranks)
          .to(maps.scalar_type());
  const auto positive = choices_of(batch, maps.scalar_type()).positive;
  return {gradient, effective_share(gradient.norm(2, 2), positive, batch.ranks)};
}

}  // namespace

Tensor exponent_maps(const Tensor& maps, const Tensor& scale, Exponent exponent) {
  const auto type = maps.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
  const auto wide = maps.to(type);
  switch (exponent) {
    case Exponent::raw:
      return wide;
    case Exponent::scale_free:
      return wide / scale.to(type).view({1, -1, 1});
  }
  return {};
}

FilterGradient filter_gradient(const FilterBatch& batch, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto maps = exponent_maps(batch.maps, batch.scale, options.exponent);
  switch (options.rule) {
    case Rule::paper:
      return paper_rule(batch, maps, options);
    case Rule::release:
      return release_rule(batch, maps, options);
    case Rule::exact:
      return exact_rule(batch, maps, options);
  }
  return {};
}

Tensor log_mean_fits(const FilterBatch& batch, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto maps = exponent_maps(batch.maps, batch.scale, options.exponent);
  const auto fits = all_fits(maps, batch.templates, temperature_of(options));
  return batch.ranks.logsumexp(fits.logsumexp(0)) - std::log(static_cast<double>(batch.images));
}

}  // namespace partwise::parts
