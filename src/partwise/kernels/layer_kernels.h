#pragma once

#include "partwise/kernels/map_kernels.h"

// What an interpretable layer makes of the numbers its maps have given, [images, filters] each:
// what it remembers, and the weights of the filter loss. The images are the whole batch's; T: float
// or double. parts/memory.h, parts/filter_gradient.h and parts/vote.h have the formulas.
namespace partwise::kernels {

// Memory's tensors, [filters] or a number unless noted.
template <class T>
struct LayerMemory {
  int64_t categories = 0;
  T* peak_scale = nullptr;
  T* scale_seen = nullptr;
  T* peak_best = nullptr;
  T* calm = nullptr;
  T* peak_all = nullptr;
  T* all_seen = nullptr;
  T* fit_spread = nullptr;
  T* fit_sum = nullptr;
  T* category_mean = nullptr;  // [categories, filters]
  T* category_seen = nullptr;  // [categories]
  const T* assigned = nullptr;
};

// What the memory amounts to.
template <class T>
struct LayerState {
  T* mean_peak = nullptr;  // [filters]
  T* scale = nullptr;      // [filters]
  T loudness = 0;
  T softening = 0;
};

// What the rules release and paper need to know (parts/filter_gradient.h).
template <class T>
struct WeightRule {
  double divisor = 0.0;  // of a fit in units of `unit`: temperature * cells
  bool ignore_misfits = false;
  double weight_limit = 0.0;   // release
  bool balance_batch = false;  // omega by the share of positives in the batch
  const T* share = nullptr;    // [filters]: omega by these, or null
  const T* unit = nullptr;     // [filters]: dx/dx^
  const T* weight = nullptr;   // [filters]: what the result is multiplied by
  double most = 0.0;           // paper: v is at most this
};

// Of every map, [images, filters].
template <class T>
struct PeakNumbers {
  const T* masses = nullptr;
  const T* own_fits = nullptr;      // sum x U_mu
  const T* foreign_fits = nullptr;  // release: sum x U of another image's and filter's peak
  // paper: log Z of mu-hat, and log N p(x), which may be null: 0
  const T* log_partition = nullptr;
  const T* log_marginal = nullptr;
};

template <class T>
struct LayerKernels {
  // sums += the numbers, times the weights unless null, of all images; [filters]
  void (*add_up)(const Batch& batch, const T* numbers, const T* weights, double* sums);

  // The running mean of each category's response, [images, filters].
  void (*see_categories)(const Batch& batch,
                         const int64_t* labels,
                         const T* response,
                         double memory,
                         const LayerMemory<T>& layer);

  // The category of each filter, [filters].
  //   relative: by the share of the layer's response; assigned ones first where there are any
  void (*categories)(int64_t filters,
                     bool relative,
                     const LayerMemory<T>& layer,
                     int64_t* category);

  // spreads, fits: null, or sum x |cell - mu|^2 and sum x U_mu / n^2
  void (*see_filters)(const Batch& batch,
                      const int64_t* labels,
                      const int64_t* category,
                      const T* tops,
                      const T* masses,
                      const T* spreads,
                      const T* fits,
                      double memory,
                      const LayerMemory<T>& layer);

  void (*state)(int64_t filters, const LayerMemory<T>& layer, LayerState<T>& state);

  // constant, pull [images, filters]; shares [filters]: (sum |w|)^2 / sum w^2 over the positives as
  // a share of them, -1 where there are none. range: of filters.
  void (*release)(const Batch& batch,
                  Range range,
                  const int64_t* labels,
                  const int64_t* category,
                  const PeakNumbers<T>& numbers,
                  const WeightRule<T>& rule,
                  T* constant,
                  T* pull,
                  double* shares);
  // The same of all filters; returns the mean share of those that have any. log_silence [filters]:
  // log Z of mu^-
  double (*paper)(const Batch& batch,
                  const int64_t* labels,
                  const int64_t* category,
                  const PeakNumbers<T>& numbers,
                  const T* log_silence,
                  const WeightRule<T>& rule,
                  T* constant,
                  T* pull);

  // (sum |w|)^2 / sum w^2 over the positives as a share of them, mean over the filters that have
  // any.
  //   sizes [images, filters]: |w|
  double (*effective)(const Batch& batch,
                      const int64_t* labels,
                      const int64_t* category,
                      const T* sizes);

  // raise = weight dL / d max x where that may pass, of the images `begin` to `end`; losses
  // [images]: the part of each in L, their sum
  void (*vote)(const Batch& batch,
               Range range,
               const int64_t* labels,
               const int64_t* category,
               int64_t categories,
               const T* tops,
               T loudness,
               double weight,
               T* raise,
               double* losses);
};

template <class T>
const LayerKernels<T>& layer_kernels(Level level = best_level());

// One per level, each in a file compiled for it.
template <class T>
const LayerKernels<T>& portable_layer_kernels();
template <class T>
const LayerKernels<T>& avx2_layer_kernels();
template <class T>
const LayerKernels<T>& avx512_layer_kernels();

}  // namespace partwise::kernels
