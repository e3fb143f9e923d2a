#pragma once

#include "partwise/parts/options.h"
#include "partwise/tensors/ranks.h"
#include "partwise/tensors/tensor.h"

#include <map>
#include <string>
#include <vector>

namespace partwise::parts {

// What happened in a layer since the last look.
struct LayerDiagnostics {
  // Mean over the filters, over every 16th batch: the filter loss -MI and its terms,
  // Eqn (understand); loss = - prior_entropy + category_entropy + spatial_entropy.
  double loss = 0.0;
  double prior_entropy = 0.0;
  double category_entropy = 0.0;
  double spatial_entropy = 0.0;
  // Mean over the steps with a push.
  double gradient_ratio = 0.0;     // norm of the added filter gradient / norm of the task gradient
  double effective_samples = 0.0;  // share of the positives that carry the weights; 1: all alike
  double softening = 1.0;          // what the guard left of the strength; 1: all of it
  // Now.
  double mean_peak = 0.0;   // of E[max x] over the filters: how loud the layer is
  double dead_share = 0.0;  // filters whose running E[max x] is nothing beside the layer's
  std::vector<int64_t> filters_per_category;
};

// One interpretable conv-layer's mask and loss, put on the output of a convolution's ReLU. Keeps,
// from training data only: per filter the running E[max x] and spread on its category, per category
// and filter the running mean of sum_ij x_ij, and thereby the category each filter stands for; for
// the paper's rule also the running Z.
class InterpretableLayer {
 public:
  // categories: how many the images can have (1 for a binary task).
  InterpretableLayer(int64_t filters, int64_t side, int64_t categories, const PartOptions& options);

  const PartOptions& options() const { return options_; }

  // x^masked = x * max(U_mu-hat, 0).  maps [batch, filter, n, n]
  Tensor mask(const Tensor& maps) const;

  // The same, and in the backward pass strength * dLoss_f/dx is added to the task gradient that
  // arrives at `maps` (paper, "Learning"), in units of options.strength_unit:
  //   filter-share  each filter's added norm is strength times its task gradient's, this very step
  //
  //   layer-share   the same for the layer as a whole, filters weighed by E[max x]
  //
  //   peak          strength * E[max x] * dLoss_f/dx: the paper's lambda, schedule `inverse`
  //
  //   absolute      strength * dLoss_f/dx: the release's lambda (1e-6), schedule `inverse`
  //
  // With options.loudness `kept` the part of dLoss_f/dx that scales a filter's maps, all of the
  // batch's alike, is taken out first.
  // The task loss is taken to be a mean over the batch.
  //   category [batch] int64: the image's category; -1: none of them
  // With several ranks the maps are this rank's share of the batch and `category` is the whole
  // batch's. Every statistic, norm and mean is then of the whole batch, the task gradient is that
  // of the whole batch's mean, and all ranks must run the same forward and backward passes.
  Tensor mask_and_learn(const Tensor& maps, const Tensor& category);

  void set_ranks(const tensors::Ranks& ranks) { ranks_ = ranks; }

  // Multiplies options.strength from here on (a schedule's doing).
  void set_strength_factor(double factor) { strength_factor_ = factor; }

  // The category each filter stands for, [filter] int64, from the running means of sum_ij x_ij:
  //   absolute  argmax_c E_c sum x (paper, "Determining the target category")
  //   relative  argmax_c E_c sum x / (mean of E_c sum x over the layer's filters): a category that
  //             excites the layer more than others cannot capture all its filters
  Tensor filter_category() const;

  // beta of each filter, [filter]. Learned: the release's slope b* = clip(3 / sigma, 1.5, 3), sigma
  // the filter's RMS distance of activation from its peak in cells, running over its positives.
  Tensor filter_beta() const;

  // Everything a checkpoint must keep; load_state takes what state gave.
  std::map<std::string, Tensor> state() const;
  void load_state(const std::map<std::string, Tensor>& state);

  LayerDiagnostics take_diagnostics();  // and start counting anew
  // What take_diagnostics will be made of, so far, as one list of float64: what a checkpoint
  // between two looks must keep.
  Tensor diagnostic_sums() const;
  void load_diagnostic_sums(const Tensor& sums);
  void to_device(const std::string& device);
  void to_type(at::ScalarType type);  // of the statistics: float32 unless float64 is asked for

 private:
  Tensor templates() const;  // as unit_templates gives them, float32
  std::vector<Tensor*> all_tensors();
  Tensor own_rows(const Tensor& category) const;
  void update_statistics(const Tensor& maps, const Tensor& peaks, const Tensor& category);
  void update_partition(const Tensor& log_mean);
  void watch_loss(const Tensor& maps, const Tensor& templates);
  Tensor positives(const Tensor& category) const;
  Tensor softening() const;

  PartOptions options_;
  tensors::Ranks ranks_;
  int64_t categories_;
  double strength_factor_ = 1.0;
  Tensor distances_;          // [n*n, n*n], of the template's shape
  Tensor squared_distances_;  // [n*n, n*n], L2
  Tensor fixed_templates_;    // [n*n, n*n]
  Tensor peak_scale_;         // [filter]
  Tensor scale_seen_;         // [filter]: weight of the memory so far, to correct its start
  Tensor peak_best_;          // [filter]: highest running E[max x], slowly forgotten
  Tensor squared_spread_;     // [filter]
  Tensor category_mean_;      // [category, filter]
  Tensor category_seen_;      // [category]
  Tensor log_partition_;      // [filter, n*n + 1]: log of the weighted sum so far; rule paper
  Tensor partition_seen_;     // []: its weight
  Tensor sums_;               // over the steps since the last look: see take_diagnostics
  Tensor loss_sums_;
  int64_t steps_ = 0;
  int64_t pushes_ = 0;
  int64_t watched_ = 0;
};

}  // namespace partwise::parts
