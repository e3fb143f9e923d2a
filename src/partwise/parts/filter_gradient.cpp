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

// x^: what the exponent sees, float32 or float64.
Tensor exponent_maps(const FilterBatch& batch, const PartOptions& options) {
  const auto wide = batch.maps.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
  const auto maps = batch.maps.to(wide);
  return options.exponent == "raw" ? maps : maps / batch.scale.to(wide).view({1, -1, 1});
}

// tr(x^ T_mu) for every mu, mu^- last: [batch, filter, n*n + 1]
Tensor all_fits(const Tensor& maps, const Tensor& templates, double temperature) {
  const auto fits = template_fits(maps, templates.to(maps.scalar_type()));
  return torch::cat({fits, -maps.sum(2, true)}, 2) /
         (temperature * static_cast<double>(maps.size(2)));
}

struct Sides {
  Tensor positive;  // [batch, filter], of the maps' type: the image's factor where it is positive
  Tensor negative;
};

// The factors omega+ and omega-, 0 on the other side.
Sides balanced_sides(const Tensor& positive, const std::string& balance, torch::ScalarType type) {
  const auto plus = positive.to(type);
  const auto minus = 1.0 - plus;
  if (balance == "none") return {plus, minus};
  const auto half = 0.5 * static_cast<double>(positive.size(0));
  return {plus * half / plus.sum(0, true).clamp_min(1.0),
          minus * half / minus.sum(0, true).clamp_min(1.0)};
}

Tensor effective_share(const Tensor& weights, const Tensor& chosen) {
  const auto count = chosen.sum(0).to(weights.scalar_type());
  const auto own = weights * chosen;
  const auto share =
      own.abs().sum(0).square() / own.square().sum(0).clamp_min(1e-30) / count.clamp_min(1);
  const auto present = (count > 0).to(weights.scalar_type());
  return (share * present).sum() / present.sum().clamp_min(1);
}

// log-mean-exp over the chosen images, [1, filter]; 0 where none is chosen.
Tensor log_mean_exp(const Tensor& exponent, const Tensor& chosen) {
  const auto count = chosen.sum(0, true).to(exponent.scalar_type());
  const auto masked = where_else(chosen, exponent, -std::numeric_limits<double>::infinity());
  return where_else(count > 0, masked.logsumexp(0, true) - count.clamp_min(1).log(), 0.0);
}

// The release's w over the chosen images, [batch, filter]; 0 elsewhere.
Tensor release_weights(const Tensor& u, const Tensor& log_z, const Tensor& chosen, bool ignore) {
  const auto count = chosen.sum(0, true).to(u.scalar_type());
  const auto top = where_else(chosen, u, -std::numeric_limits<double>::infinity()).amax(0, true);
  const auto safe_top = where_else(count > 0, top, 0.0);
  auto gain = u - log_z + 1.0;
  if (ignore) gain = gain.clamp_min(0.0);
  const auto raw = where_else(chosen, (u - safe_top).clamp_max(0.0).exp() * gain, 0.0);
  const auto mean = raw.sum(0, true) / count.clamp_min(1);
  const auto sound = mean.abs() > kVanishingMean * raw.abs().amax(0, true);
  const auto weights = (raw / where_else(sound, mean, 1.0)).clamp(-kLargestWeight, kLargestWeight);
  return torch::where(sound, weights, torch::ones_like(weights)) * chosen;
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
      std::log(static_cast<double>(maps.size(0)) / (1.0 - options.partition_memory));
  const auto v = (u - log_mean).clamp_max(most);
  auto weight = v.exp() * v;
  if (options.misfits == "ignored") weight = weight.clamp_min(0.0);
  const auto [plus, minus] = balanced_sides(batch.positive, options.balance, maps.scalar_type());
  const double prior = 1.0 / static_cast<double>(cells + 1);
  const double tau = 1.0 / (temperature * static_cast<double>(cells));
  const double factor = prior * tau / static_cast<double>(maps.size(0));
  const auto pull = (weight * plus).unsqueeze(2) * own;
  const auto push = (weight * minus).unsqueeze(2);
  return {factor * (push - pull), effective_share(weight, batch.positive)};
}

FilterGradient release_rule(const FilterBatch& batch,
                            const Tensor& maps,
                            const PartOptions& options) {
  const auto& positive = batch.positive;
  const auto negative = positive.logical_not();
  const double temperature = temperature_of(options);
  const bool ignore = options.misfits == "ignored";
  const auto own = templates_at(batch.peaks, batch.templates.to(maps.scalar_type()));
  const auto fit = [&](const Tensor& part) { return (maps * part).mean(2) / temperature; };
  const auto silence = -maps.mean(2) / temperature;
  const auto log_z = log_mean_exp(fit(own.flip({0, 1})), positive);
  const auto log_z_silent = log_mean_exp(silence, negative);
  const auto pull = release_weights(fit(own), log_z, positive, ignore);
  const auto push = release_weights(silence, log_z_silent, negative, ignore);
  const auto [plus, minus] = balanced_sides(positive, options.balance, maps.scalar_type());
  const auto gradient = (push * minus).unsqueeze(2) - (pull * plus).unsqueeze(2) * own;
  return {gradient / static_cast<double>(maps.size(0)), effective_share(pull, positive)};
}

FilterGradient exact_rule(const FilterBatch& batch,
                          const Tensor& maps,
                          const PartOptions& options) {
  const auto cells = static_cast<double>(maps.size(2));
  auto likelihood = paper_likelihood(std::llround(std::sqrt(cells)));
  likelihood.tau = 1.0 / (temperature_of(options) * cells);
  const auto gradient = filter_loss_gradient(maps, batch.templates, likelihood, Frozen::nothing)
                            .to(maps.scalar_type());
  return {gradient, effective_share(gradient.norm(2, 2), batch.positive)};
}

}  // namespace

FilterGradient filter_gradient(const FilterBatch& batch, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto maps = exponent_maps(batch, options);
  if (options.rule == "paper") return paper_rule(batch, maps, options);
  if (options.rule == "exact") return exact_rule(batch, maps, options);
  return release_rule(batch, maps, options);
}

Tensor log_mean_fits(const FilterBatch& batch, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto maps = exponent_maps(batch, options);
  const auto fits = all_fits(maps, batch.templates, temperature_of(options));
  return fits.logsumexp(0) - std::log(static_cast<double>(maps.size(0)));
}

}  // namespace partwise::parts
