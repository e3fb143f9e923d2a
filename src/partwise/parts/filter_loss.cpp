#include "partwise/parts/filter_loss.h"

#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <cmath>

namespace partwise::parts {
namespace {

// Everything in the log domain; the last template is the negative one.
struct Likelihood {
  Tensor log_prior;        // [n*n + 1]
  Tensor log_conditional;  // log p(x_k | mu): [batch, filter, n*n + 1]
  Tensor log_marginal;     // log p(x_k): [batch, filter]
};

Likelihood likelihood_of(const Tensor& maps,
                         const Tensor& templates,
                         const LikelihoodOptions& options,
                         const tensors::Ranks& ranks) {
  const auto x = maps.to(torch::kFloat64);
  const auto cells = templates.size(-1);
  const auto fit = template_fits(x, templates.to(torch::kFloat64));
  const auto scores = options.tau * torch::cat({fit, -x.sum(2, true)}, 2);
  auto log_prior =
      torch::full({cells + 1}, std::log(options.alpha / static_cast<double>(cells)), x.options());
  log_prior[cells] = std::log1p(-options.alpha);
  const auto log_conditional = scores - ranks.logsumexp(scores.logsumexp(0, true));
  return {log_prior, log_conditional, (log_conditional + log_prior).logsumexp(2)};
}

}  // namespace

LikelihoodOptions paper_likelihood(int64_t side) {
  const auto cells = static_cast<double>(side * side);
  return {0.5 / cells, cells / (1.0 + cells)};
}

FilterLoss filter_loss(const Tensor& maps,
                       const Tensor& templates,
                       const LikelihoodOptions& options,
                       const tensors::Ranks& ranks) {
  const auto [log_prior, log_conditional, log_marginal] =
      likelihood_of(maps, templates, options, ranks);
  const auto cells = templates.size(-1);
  const auto log_joint = log_conditional + log_prior;  // log p(mu, x_k)
  const auto joint = log_joint.exp();
  const auto information =
      (joint * (log_conditional - log_marginal.unsqueeze(2))).sum(at::IntArrayRef({0, 2}));

  const auto log_present = log_joint.slice(2, 0, cells).logsumexp(2);  // log p(Omega^+, x_k)
  const auto log_absent = log_joint.select(2, cells);
  const auto category = -(log_present.exp() * (log_present - log_marginal) +
                          log_absent.exp() * (log_absent - log_marginal))
                             .sum(0);
  const auto spatial =
      -(joint.slice(2, 0, cells) * (log_joint.slice(2, 0, cells) - log_present.unsqueeze(2)))
           .sum(at::IntArrayRef({0, 2}));
  const auto prior = -(log_prior.exp() * log_prior).sum();
  const auto sums = ranks.sum(torch::stack({-information, category, spatial}));
  return {sums[0], prior.expand_as(information), sums[1], sums[2]};
}

Tensor filter_loss_gradient(const Tensor& maps,
                            const Tensor& templates,
                            const LikelihoodOptions& options,
                            Frozen frozen,
                            const tensors::Ranks& ranks) {
  const auto [log_prior, log_conditional, log_marginal] =
      likelihood_of(maps, templates, options, ranks);
  const auto cells = templates.size(-1);
  const auto conditional = log_conditional.exp();
  auto gain = log_conditional - log_marginal.unsqueeze(2);  // L_mu(k)
  if (frozen == Frozen::nothing) gain = gain - ranks.sum((conditional * gain).sum(0, true));
  if (frozen == Frozen::partition_and_marginal) gain = gain + 1.0;
  const auto weight = log_prior.exp() * conditional * gain;
  const auto present = template_mixture(weight.slice(2, 0, cells), templates.to(torch::kFloat64));
  return -options.tau * (present - weight.slice(2, cells));
}

}  // namespace partwise::parts
