#pragma once

#include "partwise/parts/options.h"
#include "partwise/tensors/tensor.h"

#include <map>
#include <string>

namespace partwise::parts {

// What happened in a layer since the last look, averaged over steps.
struct LayerDiagnostics {
  double gradient_ratio = 0.0;     // norm of the added filter gradient / norm of the task gradient
  double effective_samples = 0.0;  // share of the positives that carry the weights; 1: all alike
  double dead_share = 0.0;         // filters whose running E[max x] is nothing beside the layer's
};

// One interpretable conv-layer's mask and loss, put on the output of a convolution's ReLU. Keeps,
// from training data only: per filter the running E[max x] on its category, per category and filter
// the running mean of sum_ij x_ij, and thereby the category each filter stands for.
class InterpretableLayer {
 public:
  // categories: how many the images can have (1 for a binary task).
  InterpretableLayer(int64_t filters, int64_t side, int64_t categories, const PartOptions& options);

  // x^masked = x * max(U_mu-hat, 0).  maps [batch, filter, n, n]
  Tensor mask(const Tensor& maps) const;

  // The same, and in the backward pass the filter gradient is added to the task gradient that
  // arrives at `maps`, scaled so that its norm is options.strength times that gradient's norm at
  // this very step.
  //   category [batch] int64: the image's category; -1: none of them
  Tensor mask_and_learn(const Tensor& maps, const Tensor& category);

  // Multiplies options.strength from here on (a schedule's doing).
  void set_strength_factor(double factor) { strength_factor_ = factor; }

  // argmax_c of the running category means, [filter] int64 (paper, "Determining the target
  // category").
  Tensor filter_category() const;

  // Everything a checkpoint must keep; load_state takes what state gave.
  std::map<std::string, Tensor> state() const;
  void load_state(const std::map<std::string, Tensor>& state);

  LayerDiagnostics take_diagnostics();  // and start counting anew
  void to_device(const std::string& device);

 private:
  void update_statistics(const Tensor& maps, const Tensor& category);
  Tensor positives(const Tensor& category) const;

  PartOptions options_;
  int64_t categories_;
  double strength_factor_ = 1.0;
  Tensor templates_;      // [n*n, n*n]
  Tensor peak_scale_;     // [filter]
  Tensor scale_seen_;     // [filter]: weight of the memory so far, to correct its start
  Tensor category_mean_;  // [category, filter]
  Tensor category_seen_;  // [category]
  Tensor ratio_sum_;      // over the steps since the last look
  Tensor effective_sum_;
  int64_t steps_ = 0;
};

}  // namespace partwise::parts
