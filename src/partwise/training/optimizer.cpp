#include "partwise/training/optimizer.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

#include <cmath>
#include <utility>

namespace partwise::training {
namespace {

constexpr double kMomentum = 0.9;
constexpr double kSquareMemory = 0.999;
constexpr double kEpsilon = 1e-8;

bool decays(const std::string& name) {
  return !name.ends_with(".bias");
}

}  // namespace

Optimizer::Optimizer(std::string rule,
                     double weight_decay,
                     std::map<std::string, Tensor> parameters)
    : rule_(std::move(rule)), weight_decay_(weight_decay), parameters_(std::move(parameters)) {
  for (const auto& [name, parameter] : parameters_) {
    rates_[name] = 1.0;
    first_[name] = torch::zeros_like(parameter, parameter.options().requires_grad(false));
    if (rule_ == "adamw") second_[name] = torch::zeros_like(first_[name]);
  }
}

void Optimizer::zero_gradients() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad() = Tensor();
}

double Optimizer::limit_gradients(double limit) {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> norms;
  for (const auto& [name, parameter] : parameters_) {
    if (parameter.grad().defined()) norms.push_back(parameter.grad().norm());
  }
  if (norms.empty()) return 0.0;
  const auto norm = torch::stack(norms).norm();
  const auto factor = (limit / (norm + kEpsilon)).clamp_max(1.0);
  for (const auto& [name, parameter] : parameters_) {
    if (parameter.grad().defined()) parameter.grad().mul_(factor);
  }
  return norm.item<double>();
}

void Optimizer::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  ++steps_;
  for (auto& [name, parameter] : parameters_) {
    const double rate = learning_rate * rates_.at(name);
    if (!parameter.grad().defined() || rate == 0.0) continue;
    if (rule_ == "adamw") {
      step_adamw(name, parameter, rate);
    } else {
      step_sgd(name, parameter, rate);
    }
  }
}

void Optimizer::step_sgd(const std::string& name, Tensor& parameter, double learning_rate) {
  auto& velocity = first_.at(name);
  velocity.mul_(kMomentum).add_(parameter.grad());
  if (decays(name)) velocity.add_(parameter, weight_decay_);
  parameter.add_(velocity, -learning_rate);
}

void Optimizer::step_adamw(const std::string& name, Tensor& parameter, double learning_rate) {
  auto& mean = first_.at(name);
  auto& square = second_.at(name);
  const auto& gradient = parameter.grad();
  mean.mul_(kMomentum).add_(gradient, 1.0 - kMomentum);
  square.mul_(kSquareMemory).addcmul_(gradient, gradient, 1.0 - kSquareMemory);
  const double mean_bias = 1.0 - std::pow(kMomentum, steps_);
  const double square_bias = 1.0 - std::pow(kSquareMemory, steps_);
  if (decays(name)) parameter.mul_(1.0 - learning_rate * weight_decay_);
  parameter.addcdiv_(mean, square.div(square_bias).sqrt_().add_(kEpsilon),
                     -learning_rate / mean_bias);
}

std::map<std::string, Tensor> Optimizer::state() const {
  std::map<std::string, Tensor> state{{"steps", torch::tensor(steps_)}};
  for (const auto& [name, tensor] : first_) state.emplace("first." + name, tensor);
  for (const auto& [name, tensor] : second_) state.emplace("second." + name, tensor);
  return state;
}

void Optimizer::load_state(const std::map<std::string, Tensor>& state) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : this->state()) {
    const auto found = state.find(name);
    ensure(found != state.end() && found->second.sizes() == tensor.sizes(),
           "checkpoint lacks the optimizer's '{}', or has it in another shape", name);
    if (name != "steps") tensor.copy_(found->second);
  }
  steps_ = state.at("steps").item<int64_t>();
}

}  // namespace partwise::training
