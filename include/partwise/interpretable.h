#pragma once

#include "partwise/error.h"
#include "partwise/part_options.h"

// clang-format off
#include <ATen/core/ivalue.h>  // first: clang 14 cannot parse LibTorch 1.13 in C++20 otherwise
#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>
// clang-format on

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace partwise {

namespace tensors {
class Ranks;
}

namespace parts {

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
  double vote = 0.0;               // cross-entropy of the filters' vote, in nats
  // Now.
  double mean_peak = 0.0;     // of E[max x] over the filters: how loud the layer is
  double dead_share = 0.0;    // filters whose running E[max x] is nothing beside the layer's
  double silent_share = 0.0;  // those below 5 % of a strong one's (median of the strongest quarter)
  double effective_filters = 0.0;  // 1 / sum share^2, share: of the layer's activation, running
  std::vector<int64_t> filters_per_category;
};

}  // namespace parts

// The interpretable layer of the paper, to be put behind the ReLU of any convolution:
//
//   partwise::Interpretable parts(256, 14, 20);    // filters, side of their maps, categories
//   y = parts(torch::relu(conv(x)), labels);       // train(): the mask and the filter loss
//   y = parts(torch::relu(conv(x)));               // eval(): the mask; no labels are needed
//
// The filter loss has no value to add to yours: it acts in the backward pass of your task loss, on
// the gradient that arrives at the maps. labels [batch] int64: 0 .. categories - 1, or -1 for an
// image of none of them (a binary task: 0 and -1, one category).
//
// What the layer has learnt from training batches (each filter's category, E[max x], spread, the
// paper's Z) are registered buffers: to(), torch::save, torch::load and clone() take them along.
// They are float32, or float64 after to(torch::kFloat64); half types leave them alone.
//
// Gradient accumulation. Every forward pass in training moves the statistics, and every backward
// pass adds the filter gradient of its own maps. In the units filter-share and layer-share (the
// default) that is a share of the task gradient that arrives: a loss divided by k adds a push
// divided by k, as it should. In the units peak and absolute the push ignores the scale of the
// loss: over k passes set_strength_factor(1.0 / k). The vote ignores it, too: over k passes divide
// options.vote by k.
//
// The task gradient is what arrives through the layer's output. What reaches the maps by another
// way (a second head, a penalty) is added as it is and counts in no share.
//
// A second forward pass before backward. Each counts as a batch of its own in the statistics; each
// backward pass uses what was known at its own forward pass. To look without learning, call mask(),
// or eval() first.
//
// A loss summed over the batch instead of averaged. In the share units nothing changes but the
// common scale of both gradients. Peak, absolute and the vote take the loss to be a mean: with a
// sum, the push is weaker than asked by the factor batch size.
class InterpretableImpl : public torch::nn::Cloneable<InterpretableImpl> {
 public:
  // categories: how many the images can have (1 for a binary task). Sizes below 1 and options out
  // of range are an Error.
  InterpretableImpl(int64_t filters,
                    int64_t side,
                    int64_t categories,
                    const parts::PartOptions& options = {});

  // In training mask_and_learn, otherwise mask. Maps of other filters or another side, and labels
  // that are missing, of another type or number, or out of range are an Error that says so.
  // before_relu: see mask_and_learn.
  torch::Tensor forward(const torch::Tensor& maps,
                        const torch::Tensor& labels = {},
                        const std::vector<torch::Tensor>& before_relu = {});

  // x^masked = x * max(U_mu-hat, 0).  maps [batch, filter, n, n]
  torch::Tensor mask(const torch::Tensor& maps) const;

  // The same, and in the backward pass strength * dLoss_f/dx is added to the task gradient that
  // arrives at `maps` (paper, "Learning"), in units of options().strength_unit:
  //   filter-share  each filter's added norm is strength times its task gradient's, this very step
  //   layer-share   the same for the layer as a whole, filters weighed by E[max x]
  //   peak          strength * E[max x] * dLoss_f/dx, E over all images: the paper's lambda,
  //                 schedule `inverse`
  //   absolute      strength * dLoss_f/dx: the release's lambda (1e-6), schedule `inverse`
  // With loudness `kept` the part of dLoss_f/dx that scales a filter's maps, all of the batch's
  // alike, is taken out first. In a task of several categories options().vote adds the filters'
  // vote on the image's category, and keep_alive raises filters that fall silent
  // (parts/filter_push.h has both). These two reach units that the ReLU has closed only through
  // before_relu: what it was given, [batch, filter, n, n], or several tensors whose filters follow
  // one another. The range of the labels is not looked at: on a GPU that would wait.
  torch::Tensor mask_and_learn(const torch::Tensor& maps,
                               const torch::Tensor& labels,
                               const std::vector<torch::Tensor>& before_relu = {});
  // mask_and_learn(relu(before_relu, side by side), labels, before_relu); on a GPU in one go.
  // biases: none, or one for each tensor, [filter], that is added to it first.
  torch::Tensor open_and_learn(const std::vector<torch::Tensor>& before_relu,
                               const torch::Tensor& labels,
                               const std::vector<torch::Tensor>& biases = {});

  // Multiplies options().strength from here on (a schedule's doing).
  void set_strength_factor(double factor) { strength_factor_ = factor; }
  // How much of the mask is in force in training from here on: x * (1 - share + share * mask).
  void set_mask_share(double share) { mask_share_ = share; }
  // The share of each category among all training images, for balance `dataset`; without it, and
  // above ten categories, they count as equally frequent.
  void set_category_shares(const std::vector<double>& shares);

  // The category each filter stands for, [filter] int64, from the running means of sum_ij x_ij:
  //   absolute  argmax_c E_c sum x (paper, "Determining the target category")
  //   relative  argmax_c E_c sum x / (mean of E_c sum x over the layer's filters): a category that
  //             excites the layer more than others cannot capture all its filters
  //   peak      argmax_c E_c max x (the release)
  //   balanced  equal numbers of filters for all, the best such assignment by the relative share;
  //             decided after the 4th, 16th and 48th batch, from there on fixed
  torch::Tensor filter_category() const;

  // beta of each filter, [filter]. Learned: the release's slope b* = clip(3 / sigma, 1.5, 3), sigma
  // the filter's RMS distance of activation from its peak in cells, running over its positives.
  torch::Tensor filter_beta() const;

  const parts::PartOptions& options() const { return options_; }
  int64_t filters() const { return filters_; }
  int64_t side() const { return side_; }
  int64_t categories() const { return categories_; }

  parts::LayerDiagnostics take_diagnostics();  // and start counting anew
  // What take_diagnostics will be made of, so far, as one list of float64: what a checkpoint
  // between two looks must keep.
  torch::Tensor diagnostic_sums() const;
  void load_diagnostic_sums(const torch::Tensor& sums);

  // The program's own: with several ranks the maps are this rank's share of the batch and `labels`
  // are the whole batch's. Every statistic, norm and mean is then of the whole batch, the task
  // gradient is that of the whole batch's mean, and all ranks must run the same passes.
  void set_ranks(const tensors::Ranks& ranks);

  // The program's own, for a GPU that replays recorded steps: whether the next training pass will
  // be like later ones, how it is to be told from others, and that the last one was replayed.
  bool repeats() const;
  std::string pass_key() const;
  void count_again();

  void reset() override;  // for clone()
  void pretty_print(std::ostream& stream) const override;
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;
  using Cloneable::to;
  void to(torch::Device device, torch::Dtype type, bool non_blocking = false) override;
  void to(torch::Device device, bool non_blocking = false) override;
  void to(torch::Dtype type, bool non_blocking = false) override;

 private:
  struct Inside;  // parts/memory.h, parts/diagnostics.h

  void check_maps(const torch::Tensor& maps) const;
  void check_labels(const torch::Tensor& labels, int64_t images) const;
  torch::Tensor learn_on_gpu(const std::vector<torch::Tensor>& pieces,
                             const std::vector<torch::Tensor>& biases,
                             bool through_relu,
                             const torch::Tensor& labels);

  int64_t filters_;
  int64_t side_;
  int64_t categories_;
  parts::PartOptions options_;
  double strength_factor_ = 1.0;
  double mask_share_ = 1.0;
  std::vector<double> category_shares_;
  std::shared_ptr<const tensors::Ranks> ranks_;
  std::shared_ptr<Inside> inside_;  // a copy shares it, as copies of a module do; clone() does not
};
TORCH_MODULE(Interpretable);

}  // namespace partwise
