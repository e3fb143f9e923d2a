#pragma once

#include "partwise/tensors/torch.h"

#include <functional>

namespace partwise::tensors {

// Central differences of a scalar-valued function at every input, float64; the shape of `at`.
inline Tensor numeric_gradient(const std::function<double(const Tensor&)>& function,
                               const Tensor& at,
                               double step = 1e-6) {
  const torch::NoGradGuard no_grad;
  const auto probe = at.detach().clone().flatten();
  auto gradient = torch::zeros_like(probe);
  for (int64_t i = 0; i < probe.numel(); ++i) {
    const auto value = probe[i].item<double>();
    const auto value_at = [&](double x) {
      probe[i] = x;
      return function(probe.view(at.sizes()));
    };
    gradient[i] = (value_at(value + step) - value_at(value - step)) / (2.0 * step);
    probe[i] = value;
  }
  return gradient.view(at.sizes());
}

// Largest |autograd - central difference| over all inputs of a scalar-valued function (float64).
inline double gradient_error(const std::function<Tensor(const Tensor&)>& function,
                             const Tensor& at,
                             double step = 1e-6) {
  const auto input = at.detach().clone().requires_grad_();
  const auto analytic = torch::autograd::grad({function(input)}, {input}).front();
  const auto numeric =
      numeric_gradient([&](const Tensor& x) { return function(x).item<double>(); }, at, step);
  return (analytic - numeric).abs().max().item<double>();
}

}  // namespace partwise::tensors
