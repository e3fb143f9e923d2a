#pragma once

#include "partwise/base/options.h"
#include "partwise/tensors/tensor.h"

#include <compare>
#include <map>
#include <string>
#include <vector>

namespace partwise::training {

enum class UpdateRule { adamw, sgd };

// SGD with momentum 0.9, or AdamW (0.9, 0.999), over parameters by name. Its state is plain tensors
// by name, so a checkpoint holds it like any weight. Biases are not decayed.
class Optimizer {
 public:
  Optimizer(UpdateRule rule, double weight_decay, std::map<std::string, Tensor> parameters);

  void zero_gradients();
  // Of all gradients together, [], on their device: reading it waits for the backward pass.
  Tensor gradient_norm() const;
  // Scales them down together where that norm exceeds `limit`.
  void limit_gradients(double norm, double limit);
  void step(double learning_rate);
  // The same without waiting for a GPU: limits, updates, and leaves everything as it is where the
  // loss or the norm is not finite. rate, loss []: on the device. Returns the norm, [].
  Tensor step_without_waiting(const Tensor& rate, const Tensor& loss, double limit);
  bool can_step_without_waiting() const;
  void count_again() { ++steps_; }  // the last step was replayed on the GPU
  // This parameter's rate as a multiple of the common one; 0 leaves it as it is.
  void set_rate(const std::string& name, double factor) { rates_.at(name) = factor; }

  std::map<std::string, Tensor> state() const;
  void load_state(const std::map<std::string, Tensor>& state);

 private:
  struct Kind {
    double rate = 1.0;
    bool decays = true;
    auto operator<=>(const Kind&) const = default;
  };
  // Parameters of one kind and what belongs to them: a GPU updates them all with one kernel.
  struct Group {
    std::vector<Tensor> parameters;
    std::vector<Tensor> gradients;
    std::vector<Tensor> first;
    std::vector<Tensor> second;
  };

  std::vector<Tensor> gradients() const;
  std::map<Kind, Group> groups() const;
  void step_sgd(const Group& group, double learning_rate, bool decays) const;
  void step_adamw(const Group& group, double learning_rate, bool decays) const;

  UpdateRule rule_;
  double weight_decay_;
  std::map<std::string, Tensor> parameters_;
  std::map<std::string, double> rates_;
  std::map<std::string, Tensor> first_;   // momentum
  std::map<std::string, Tensor> second_;  // AdamW's mean square
  int64_t steps_ = 0;
  Tensor steps_on_device_;  // [] float32: the same
};

}  // namespace partwise::training

template <>
inline constexpr auto partwise::kWords<partwise::training::UpdateRule> = partwise::words("adamw",
                                                                                         "sgd");
