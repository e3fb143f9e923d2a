#include "partwise/parts/filter_gradient.h"

#include "partwise/kernels/method_constants.h"
#include "partwise/parts/filter_loss.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <cmath>
#include <limits>

namespace partwise::parts {
namespace {

using kernels::kVanishingMean;

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

// The factors omega+ and omega- of each image; 0 in the one that is not its own.
struct Factors {
  Tensor plus;  // [batch, filter]
  Tensor minus;
};

Factors factors_of(const Choices& choices, const FilterBatch& batch, Balance balance) {
  const auto type = choices.positive.count.scalar_type();
  const auto plus = choices.positive.images.to(type);
  const auto minus = choices.negative.images.to(type);
  const auto images = static_cast<double>(batch.images);
  switch (balance) {
    case Balance::none:
      break;
    case Balance::dataset: {
      if (!batch.share.defined()) break;
      const auto rho = batch.share.to(type);
      return {plus * (0.5 / rho), minus * (0.5 / (1.0 - rho))};
    }
    case Balance::category:
      return {plus * (0.5 * images / choices.positive.count.clamp_min(1.0)),
              minus * (0.5 * images / choices.negative.count.clamp_min(1.0))};
  }
  return {plus, minus};
}

Tensor effective_share(const Tensor& weights, const Choice& choice, const tensors::Ranks& ranks) {
  const auto own = weights * choice.images;
  const auto sums = ranks.sum(torch::stack({own.abs().sum(0), own.square().sum(0)}));
  const auto count = choice.count.squeeze(0);
  const auto share = sums[0].square() / sums[1].clamp_min(1e-30) / count.clamp_min(1);
  const auto present = (count > 0).to(weights.scalar_type());
  return (share * present).sum() / present.sum().clamp_min(1);
}

// Over all images.  [batch, filter, ...] -> [1, filter, ...]
Tensor log_mean_exp(const Tensor& exponent, const FilterBatch& batch) {
  return batch.ranks.logsumexp(exponent.logsumexp(0, true)) -
         std::log(static_cast<double>(batch.images));
}

// The release's w over the chosen images, [batch, filter]; 0 elsewhere.
Tensor release_weights(const Tensor& u,
                       const Tensor& log_z,
                       const Choice& choice,
                       const PartOptions& options,
                       const tensors::Ranks& ranks) {
  const auto own_top =
      where_else(choice.images, u, -std::numeric_limits<double>::infinity()).amax(0, true);
  const auto safe_top = where_else(choice.count > 0, ranks.max(own_top), 0.0);
  auto gain = u - log_z + 1.0;
  if (options.misfits == Misfits::ignored) gain = gain.clamp_min(0.0);
  const auto raw = where_else(choice.images, (u - safe_top).clamp_max(0.0).exp() * gain, 0.0);
  const auto mean = ranks.sum(raw.sum(0, true)) / choice.count.clamp_min(1);
  const double limit = options.weight_limit;
  if (limit == 0.0) return raw / where_else(mean != 0.0, mean, 1.0);
  const auto size = ranks.sum(raw.abs().sum(0, true)) / choice.count.clamp_min(1);
  const auto sound = mean.abs() > kVanishingMean * size;
  const auto weights = (raw / where_else(sound, mean, 1.0)).clamp(-limit, limit);
  return torch::where(sound, weights, torch::ones_like(weights)) * choice.images;
}

// For every map the template of another image's and another filter's peak: both counted from the
// far end, through all ranks.  [batch, filter, n*n]
Tensor foreign_templates(const FilterBatch& batch, const Tensor& templates) {
  const auto [begin, end] = batch.ranks.share(batch.images);
  const auto all = batch.ranks.rows_of_all(batch.peaks, batch.images);
  return templates_at(all.flip({0}).slice(0, begin, end), templates).flip({1});
}

// e^v (v - log N p(x)) of every template, mu^- last.  [batch, filter, n*n + 1]
Tensor paper_weights(const FilterBatch& batch, const Tensor& maps, const PartOptions& options) {
  const auto fits = all_fits(maps, batch.templates, temperature_of(options));
  // Z holds this batch with weight 1 - memory, hence the bound; only rounding can exceed it.
  const double most =
      std::log(static_cast<double>(batch.images) / (1.0 - options.partition_memory));
  const auto v = (fits - batch.log_partition.to(maps.scalar_type())).clamp_max(most);
  auto gain = v;
  if (options.marginal == Marginal::definition)  // p(mu) is the same for all, mu^- included
    gain = v - (v.logsumexp(2, true) - std::log(static_cast<double>(v.size(2))));
  if (options.misfits == Misfits::ignored) gain = gain.clamp_min(0.0);
  return v.exp() * gain;
}

// p(mu) tau / batch
double paper_factor(const FilterBatch& batch, const Tensor& maps, const PartOptions& options) {
  const auto cells = static_cast<double>(maps.size(2));
  const double tau = 1.0 / (temperature_of(options) * cells);
  return tau / (cells + 1.0) / static_cast<double>(batch.images);
}

FilterGradient paper_rule(const FilterBatch& batch,
                          const Tensor& maps,
                          const PartOptions& options) {
  const auto own = templates_at(batch.peaks, batch.templates.to(maps.scalar_type()));
  const auto silent = torch::full_like(batch.peaks, maps.size(2));
  const auto target = torch::where(batch.positive, batch.peaks, silent);
  const auto weight = paper_weights(batch, maps, options).gather(2, target.unsqueeze(2)).squeeze(2);
  const auto choices = choices_of(batch, maps.scalar_type());
  const auto [plus, minus] = factors_of(choices, batch, options.balance);
  const auto gradient = (weight * minus).unsqueeze(2) - (weight * plus).unsqueeze(2) * own;
  return {paper_factor(batch, maps, options) * gradient,
          effective_share(weight, choices.positive, batch.ranks)};
}

FilterGradient paper_all_rule(const FilterBatch& batch,
                              const Tensor& maps,
                              const PartOptions& options) {
  const auto weights = paper_weights(batch, maps, options);
  const auto cells = maps.size(2);
  const auto pull =
      template_mixture(weights.slice(2, 0, cells), batch.templates.to(maps.scalar_type()));
  const auto gradient = paper_factor(batch, maps, options) * (weights.slice(2, cells) - pull);
  const auto positive = choices_of(batch, maps.scalar_type()).positive;
  return {gradient, effective_share(gradient.norm(2, 2), positive, batch.ranks)};
}

FilterGradient release_rule(const FilterBatch& batch,
                            const Tensor& maps,
                            const PartOptions& options) {
  const auto& ranks = batch.ranks;
  const auto choices = choices_of(batch, maps.scalar_type());
  const double temperature = temperature_of(options);
  const auto templates = batch.templates.to(maps.scalar_type());
  const auto own = templates_at(batch.peaks, templates);
  const auto fit = [&](const Tensor& part) { return (maps * part).mean(2) / temperature; };
  const auto silence = -maps.mean(2) / temperature;
  const auto log_z = log_mean_exp(fit(foreign_templates(batch, templates)), batch);
  const auto pull = release_weights(fit(own), log_z, choices.positive, options, ranks);
  const auto push =
      release_weights(silence, log_mean_exp(silence, batch), choices.negative, options, ranks);
  const auto [plus, minus] = factors_of(choices, batch, options.balance);
  const auto gradient = (push * minus).unsqueeze(2) - (pull * plus).unsqueeze(2) * own;
  return {gradient / static_cast<double>(batch.images),
          effective_share(pull, choices.positive, ranks)};
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

namespace {

FilterGradient by_rule(const FilterBatch& batch, const Tensor& maps, const PartOptions& options) {
  switch (options.rule) {
    case Rule::paper:
      return paper_rule(batch, maps, options);
    case Rule::paper_all:
      return paper_all_rule(batch, maps, options);
    case Rule::release:
      return release_rule(batch, maps, options);
    case Rule::exact:
      return exact_rule(batch, maps, options);
  }
  return {};
}

}  // namespace

FilterGradient filter_gradient(const FilterBatch& batch, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto maps = exponent_maps(batch.maps, batch.scale, options.exponent);
  auto result = by_rule(batch, maps, options);
  if (options.exponent == Exponent::scale_free)
    result.gradient = result.gradient / batch.scale.to(maps.scalar_type()).view({1, -1, 1});
  return result;
}

Tensor log_mean_fits(const FilterBatch& batch, const PartOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto maps = exponent_maps(batch.maps, batch.scale, options.exponent);
  return log_mean_exp(all_fits(maps, batch.templates, temperature_of(options)), batch).squeeze(0);
}

}  // namespace partwise::parts
