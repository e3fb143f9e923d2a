#pragma once

// The one door to LibTorch. ivalue.h comes first because clang 14 (our clang-tidy) cannot parse
// torch 1.13 in C++20 otherwise: vector<IValue> is instantiated while IValue is incomplete.
// clang-format off
#include <ATen/core/ivalue.h>
#include <torch/autograd.h>
#include <torch/types.h>
// clang-format on

#include "partwise/tensors/tensor.h"
