#pragma once

#include "partwise/tensors/tensor.h"

#include <functional>

namespace partwise::tensors {

// Central differences of a scalar-valued function at every input, float64; the shape of `at`.
Tensor numeric_gradient(const std::function<double(const Tensor&)>& function,
                        const Tensor& at,
                        double step = 1e-6);

// Largest |autograd - central difference| over all inputs of a scalar-valued function (float64).
double gradient_error(const std::function<Tensor(const Tensor&)>& function,
                      const Tensor& at,
                      double step = 1e-6);

}  // namespace partwise::tensors
