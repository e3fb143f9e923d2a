#pragma once

// The door to LibTorch's registry, through which Python finds operators and classes.
// clang-format off
#include <ATen/core/ivalue.h>  // first: see torch.h
#include <torch/custom_class.h>
#include <torch/library.h>
// clang-format on
