#pragma once

#include "partwise/kernels/map_kernels.h"

// The fits of all maps of a filter to all its templates: what the paper's rules ask (Z, p(x)). T:
// float or double. Work is shared by filters: each function does the filters `begin` to `end`.
namespace partwise::kernels {

// Fits lie as [filters, groups, cells + 1, lanes], mu^- last: `lanes` images lie side by side, as a
// level likes it; the last group has perhaps fewer. A function is given the fits of its own
// filters.
inline int64_t fit_groups(const Batch& batch, int64_t lanes) {
  return (batch.images + lanes - 1) / lanes;
}
inline int64_t fits_per_filter(const Batch& batch, int64_t lanes) {
  return fit_groups(batch, lanes) * (batch.cells() + 1) * lanes;
}

// Z as a weighted sum over all maps seen, [filters, cells + 1].
template <class T>
struct RunningFits {
  T* log_sum = nullptr;  // null: the batch's own sum is wanted
  double memory = 0.0;   // what is left of it when a batch comes
  double seen = 0.0;     // its weight, this batch included
};

template <class T>
struct FitKernels {
  int64_t lanes = 0;

  // sum x U_mu of every image and mu, and - sum x. distances: null for the L1 templates, whose
  // cones are summed in time n^3 instead of n^4; otherwise [cells, cells].
  void (*all_fits)(const Batch& batch,
                   Range filters,
                   const T* maps,
                   const T* slopes,
                   const T* distances,
                   T* fits);

  // log sum_k exp(inverse_f fit_mu(k)) over the images, [filters, cells + 1]
  void (*log_sums)(const Batch& batch, Range filters, const T* fits, const T* inverse, T* log_sums);

  // The log_sums, or in their place the log mean of all that has been seen, this batch included;
  // and log N p(x): the log_marginals, every mu as probable as any other; or null.
  void (*partition)(const Batch& batch,
                    Range filters,
                    const T* fits,
                    const T* inverse,
                    const RunningFits<T>& running,
                    T most,
                    T* log_partition,
                    T* log_marginals);

  // log sum_mu exp(v_mu), v = min(inverse_f fit_mu - log_partition_mu, most), [images, filters]
  void (*log_marginals)(const Batch& batch,
                        Range filters,
                        const T* fits,
                        const T* inverse,
                        const T* log_partition,
                        T most,
                        T* log_marginals);

  // Of every map the terms of Eqn (understand), each to be summed over the images, [images,
  // filters]; log p(x_k | mu) = inverse_f fit_mu(k) - log_sum_mu, every mu as probable as any other
  void (*loss_terms)(const Batch& batch,
                     Range filters,
                     const T* fits,
                     const T* inverse,
                     const T* log_sums,
                     T* information,
                     T* category_entropy,
                     T* spatial_entropy);

  // sum_k c (log c - log_marginal_k) over the images, c = exp(inverse_f fit_mu(k) - log_partition),
  // [filters, cells + 1]
  void (*gain_sums)(const Batch& batch,
                    Range filters,
                    const T* fits,
                    const T* inverse,
                    const T* log_partition,
                    const T* log_marginals,
                    T* gain_sums);

  // In place of the fits: e^v (v - log_marginal_k - gain_mu), v as in log_marginals.
  //   log_marginals [images, filters], gains [filters, cells + 1]: or null
  void (*weigh_templates)(const Batch& batch,
                          Range filters,
                          T* fits,
                          const T* inverse,
                          const T* log_partition,
                          T most,
                          const T* log_marginals,
                          const T* gains,
                          bool ignore_misfits);

  // factor_f (weight of mu^- - sum_mu weight_mu U_mu), [images, filters, cells]
  void (*mix)(const Batch& batch,
              Range filters,
              const T* weights,
              const T* slopes,
              const T* distances,
              const T* factor,
              T* mixtures);
};

template <class T>
const FitKernels<T>& fit_kernels(Level level = best_level());

// One per level, each in a file compiled for it.
template <class T>
const FitKernels<T>& portable_fit_kernels();
template <class T>
const FitKernels<T>& avx2_fit_kernels();
template <class T>
const FitKernels<T>& avx512_fit_kernels();

}  // namespace partwise::kernels
