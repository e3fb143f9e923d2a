#pragma once

#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"

namespace partwise::parts {

// Constants of the paper's likelihood p(x|mu) = exp(tr(x T_mu)) / Z_mu.
struct LikelihoodOptions {
  double tau = 0.0;    // of T_mu = tau U_mu; the paper's choice is 0.5 / n^2
  double alpha = 0.0;  // p(mu_i) = alpha / n^2, p(mu^-) = 1 - alpha; the paper's is n^2 / (1 + n^2)
};
LikelihoodOptions paper_likelihood(int64_t side);

// Loss_f = -MI(X; Omega) of every filter over the maps of a batch, Eqn (loss), and the terms of
// Eqn (understand): loss = - prior_entropy + category_entropy + spatial_entropy.
struct FilterLoss {
  Tensor loss;              // [filter]
  Tensor prior_entropy;     // [filter], the same for all: H(Omega)
  Tensor category_entropy;  // [filter]: H(Omega' | X), Omega' = {mu^-, Omega^+}
  Tensor spatial_entropy;   // [filter]: sum_x p(Omega^+, x) H(Omega^+ | X = x), with the minus the
                            // paper's displayed definition lacks
};

//   maps [batch, filter, n*n], after ReLU; computed in float64. With several ranks: this rank's
//   part of the batch; Z, p(x) and the sums are those of the whole.
FilterLoss filter_loss(const Tensor& maps,
                       const Tensor& templates,
                       const LikelihoodOptions& likelihood,
                       const tensors::Ranks& ranks = {});

// What the gradient of Loss_f holds constant: nothing (the true gradient of -MI), the partition
// Z_mu (the paper's appendix), or Z_mu and p(x).
enum class Frozen { nothing, partition, partition_and_marginal };

// dLoss_f/dx with c_mu(k) = e^{s_mu(k)} / Z_mu and L = log c - log p(x):
//   nothing                 - sum_mu p_mu T_mu c_mu(k) [L_mu(k) - sum_m c_mu(m) L_mu(m)]
//   partition               - sum_mu p_mu T_mu c_mu(k) L_mu(k)
//   partition_and_marginal  - sum_mu p_mu T_mu c_mu(k) [L_mu(k) + 1]
// The main text's Eqn (grad) prints the second without its minus.  [batch, filter, n*n], float64
Tensor filter_loss_gradient(const Tensor& maps,
                            const Tensor& templates,
                            const LikelihoodOptions& likelihood,
                            Frozen frozen,
                            const tensors::Ranks& ranks = {});

}  // namespace partwise::parts
