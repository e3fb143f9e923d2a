#pragma once

#include "partwise/tensors/tensor.h"

#include <map>
#include <string>

namespace partwise::training {

// SGD with momentum 0.9, or AdamW (0.9, 0.999), over parameters by name. Its state is plain tensors
// by name, so a checkpoint holds it like any weight. Biases are not decayed.
class Optimizer {
 public:
  Optimizer(std::string rule, double weight_decay, std::map<std::string, Tensor> parameters);

  void zero_gradients();
  // Scales all gradients down together where their common norm exceeds `limit`; returns that norm.
  double limit_gradients(double limit);
  void step(double learning_rate);
  // This parameter's rate as a multiple of the common one; 0 leaves it as it is.
  void set_rate(const std::string& name, double factor) { rates_.at(name) = factor; }

  std::map<std::string, Tensor> state() const;
  void load_state(const std::map<std::string, Tensor>& state);

 private:
  void step_sgd(const std::string& name, Tensor& parameter, double learning_rate);
  void step_adamw(const std::string& name, Tensor& parameter, double learning_rate);

  std::string rule_;
  double weight_decay_;
  std::map<std::string, Tensor> parameters_;
  std::map<std::string, double> rates_;
  std::map<std::string, Tensor> first_;   // momentum
  std::map<std::string, Tensor> second_;  // AdamW's mean square
  int64_t steps_ = 0;
};

}  // namespace partwise::training
