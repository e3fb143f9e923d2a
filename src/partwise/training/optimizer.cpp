#include "partwise/training/optimizer.h"

#include "partwise/base/error.h"
#include "partwise/tensors/fused_updates.h"
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

Optimizer::Optimizer(UpdateRule rule, double weight_decay, std::map<std::string, Tensor> parameters)
    : rule_(rule), weight_decay_(weight_decay), parameters_(std::move(parameters)) {
  for (const auto& [name, parameter] : parameters_) {
    rates_[name] = 1.0;
    first_[name] = torch::zeros_like(parameter, parameter.options().requires_grad(false));
    if (rule_ == UpdateRule::adamw) second_[name] = torch::zeros_like(first_[name]);
  }
}

void Optimizer::zero_gradients() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad() = Tensor();
}

Tensor Optimizer::gradient_norm() const {
  const torch::NoGradGuard no_grad;
  const auto gradients = this->gradients();
  if (gradients.empty()) return torch::zeros({});
  return torch::stack(torch::_foreach_norm(gradients)).norm();
}

void Optimizer::limit_gradients(double norm, double limit) {
  const torch::NoGradGuard no_grad;
  if (norm > limit) torch::_foreach_mul_(gradients(), limit / norm);
}

void Optimizer::step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  ++steps_;
  for (auto& [kind, group] : groups()) {
    const double rate = learning_rate * kind.rate;
    switch (rule_) {
      case UpdateRule::adamw:
        step_adamw(group, rate, kind.decays);
        break;
      case UpdateRule::sgd:
        step_sgd(group, rate, kind.decays);
        break;
    }
  }
}

std::vector<Tensor> Optimizer::gradients() const {
  std::vector<Tensor> gradients;
  for (const auto& [name, parameter] : parameters_) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

std::map<Optimizer::Kind, Optimizer::Group> Optimizer::groups() const {
  std::map<Kind, Group> groups;
  for (const auto& [name, parameter] : parameters_) {
    const double rate = rates_.at(name);
    if (!parameter.grad().defined() || rate == 0.0) continue;
    auto& group = groups[{rate, decays(name)}];
    group.parameters.push_back(parameter);
    group.gradients.push_back(parameter.grad());
    group.first.push_back(first_.at(name));
    if (rule_ == UpdateRule::adamw) group.second.push_back(second_.at(name));
  }
  return groups;
}

void Optimizer::step_sgd(const Group& group, double learning_rate, bool decays) const {
  const auto& velocity = group.first;
  torch::_foreach_mul_(velocity, kMomentum);
  torch::_foreach_add_(velocity, group.gradients);
  if (decays) torch::_foreach_add_(velocity, group.parameters, weight_decay_);
  torch::_foreach_add_(group.parameters, velocity, -learning_rate);
}

void Optimizer::step_adamw(const Group& group, double learning_rate, bool decays) const {
  const auto& [parameters, gradients, mean, square] = group;
  torch::_foreach_mul_(mean, kMomentum);
  torch::_foreach_add_(mean, gradients, 1.0 - kMomentum);
  torch::_foreach_mul_(square, kSquareMemory);
  torch::_foreach_addcmul_(square, gradients, gradients, 1.0 - kSquareMemory);
  const double mean_bias = 1.0 - std::pow(kMomentum, steps_);
  const double square_bias = 1.0 - std::pow(kSquareMemory, steps_);
  if (decays) torch::_foreach_mul_(parameters, 1.0 - learning_rate * weight_decay_);
  const auto spread = torch::_foreach_div(square, square_bias);
  torch::_foreach_sqrt_(spread);
  torch::_foreach_add_(spread, kEpsilon);
  torch::_foreach_addcdiv_(parameters, mean, spread, -learning_rate / mean_bias);
}

bool Optimizer::can_step_without_waiting() const {
  return !parameters_.empty() && tensors::has_fused_updates(parameters_.begin()->second);
}

Tensor Optimizer::step_without_waiting(const Tensor& rate, const Tensor& loss, double limit) {
  const torch::NoGradGuard no_grad;
  if (!steps_on_device_.defined())
    steps_on_device_ = torch::full({}, static_cast<double>(steps_), rate.options());
  ++steps_;
  steps_on_device_.add_(1.0);
  const auto norm = gradient_norm();
  const auto too_large = (norm / limit).clamp_min(1.0).to(torch::kFloat32);
  const auto broken =
      norm.isfinite().logical_and(loss.isfinite()).logical_not().to(torch::kFloat32);
  for (auto& [kind, group] : groups()) {
    const tensors::FusedGroup fused{group.parameters,
                                    group.gradients,
                                    group.first,
                                    group.second,
                                    kind.rate == 1.0 ? rate : rate * kind.rate,
                                    kind.decays ? weight_decay_ : 0.0,
                                    too_large,
                                    broken};
    switch (rule_) {
      case UpdateRule::adamw:
        tensors::fused_adamw(fused, kMomentum, kSquareMemory, kEpsilon, steps_on_device_);
        break;
      case UpdateRule::sgd:
        tensors::fused_sgd(fused, kMomentum);
        break;
    }
  }
  return norm;
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
  steps_on_device_.reset();
}

}  // namespace partwise::training
